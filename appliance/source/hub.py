"""`hf:org/name[@revision]`: a repository on the Hugging Face hub, in that hub's own cache folder."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from appliance.profile.source import Source
from appliance.source.base import ResolvedSource, Want, refuse, refuse_digest

PATTERNS = ["*.safetensors", "*.json", "*.jinja", "*.model", "tokenizer*", "vocab*", "merges.txt"]


@dataclass(frozen=True)
class HubRepository:
    name: str
    revision: str | None

    @classmethod
    def of(cls, source: Source) -> Self:
        return cls(source.repo, source.revision or None)

    @property
    def origin(self) -> str:
        return f"hf:{self.name}" + (f"@{self.revision}" if self.revision else "")

    def resolve(self, want: Want) -> ResolvedSource:
        if want.sha256:
            fix = "remove model.sha256 and pin a commit: hf:org/name@commit"
            refuse_digest(want, "sha256 is for single files, the source is a repository", fix)
        import httpx
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import (
            GatedRepoError,
            HfHubHTTPError,
            HFValidationError,
            LocalEntryNotFoundError,
            OfflineModeIsEnabled,
            RepositoryNotFoundError,
            RevisionNotFoundError,
        )
        from huggingface_hub.utils.tqdm import disable_progress_bars

        if not sys.stderr.isatty():
            disable_progress_bars()
        offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}
        pull = "run `appliance pull` with this profile"
        try:
            path = snapshot_download(
                self.name,
                revision=self.revision,
                allow_patterns=PATTERNS,
                local_files_only=offline or not want.download,
            )
        except HFValidationError as error:
            refuse(want.position, "AP0501", f"{self.origin}: {_line(error)}", "write hf:org/name[@revision]")
        except GatedRepoError:
            fix = "accept its terms on the hub, then set HF_TOKEN"
            refuse(want.position, "AP0507", f"{self.origin} is gated", fix)
        except RevisionNotFoundError:
            fix = "name an existing branch, tag or commit after @"
            refuse(want.position, "AP0507", f'{self.origin}: no revision "{self.revision}"', fix)
        except RepositoryNotFoundError:
            fix = "check the name; for a private one set HF_TOKEN"
            refuse(want.position, "AP0507", f"{self.origin}: no such repository", fix)
        except (LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
            if not (offline or not want.download):
                refuse(want.position, "AP0507", f"{self.origin}: {_line(error)}", "check the network, then pull again")
            way_out = f"unset HF_HUB_OFFLINE and {pull}" if offline else pull
            fact = f"{self.origin} is not in the hub's cache folder" + (
                ", and HF_HUB_OFFLINE is set" if offline else ""
            )
            refuse(want.position, "AP0507", fact, way_out)
        except (HfHubHTTPError, httpx.HTTPError, OSError) as error:
            refuse(want.position, "AP0507", f"{self.origin}: {_line(error)}", "pull again to go on where it stopped")
        return ResolvedSource(Path(path), self.origin)


def _line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
