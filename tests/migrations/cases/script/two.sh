nohup vllm serve org/embed --port 8001 --task embed --download-dir tmp/ > out/a.txt  2>&1 &
sleep 30

nohup vllm serve org/chat --enable-reasoning --reasoning-parser deepseek_r1 --rope-scaling '{"rope_type":"yarn","factor":4.0}' --max-model-len 4096 > out/b.txt 2>&1 &
