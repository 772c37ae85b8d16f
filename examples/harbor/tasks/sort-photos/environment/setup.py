import os

os.makedirs("/app/inbox")
NAMES = [
    "IMG_20240131_0007.jpg", "IMG_20240131_0008.jpg", "IMG_20231224_0001.jpg", "img_20240201_0001.JPG", "IMG_20240131_0007 (copy).jpg", "notes.txt",
    "IMG_2024013_0007.jpg", "IMG_20240229_0100.jpg", "scan IMG_20240131_0009.jpg",
]
for name in NAMES:
    with open(f"/app/inbox/{name}", "w") as file:
        file.write(f"content of {name}\n")
