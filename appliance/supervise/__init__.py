"""One running appliance: its socket, its state folder, its generations of processes."""
