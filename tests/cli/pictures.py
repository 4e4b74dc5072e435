"""Pictures that tests make and look at, without a library for them."""

import struct
import zlib

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def png_bytes(array):
    """An 8- or 16-bit PNG of a grey (h x w), grey+alpha (h x w x 2), RGB or RGBA array."""
    array = np.asarray(array)
    depth = 8 * array.dtype.itemsize
    color = {1: 0, 2: 4, 3: 2, 4: 6}[1 if array.ndim == 2 else array.shape[2]]
    rows = array.astype(f">u{depth // 8}").reshape(array.shape[0], -1)
    data = b"".join(b"\0" + row.tobytes() for row in rows)
    header = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], depth, color, 0, 0, 0)

    def chunk(name, content):
        return (struct.pack(">I", len(content)) + name + content
                + struct.pack(">I", zlib.crc32(name + content)))

    return (SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data))
            + chunk(b"IEND", b""))


def read_png(path):
    """The grey values 0 .. 255 of an 8-bit grey PNG."""
    content = path.read_bytes()
    assert content.startswith(SIGNATURE)
    at, data = 8, b""
    while at < len(content):
        length, name = struct.unpack(">I4s", content[at:at + 8])
        body = content[at + 8:at + 8 + length]
        if name == b"IHDR":
            width, height, depth, color, *_ = struct.unpack(">IIBBBBB", body)
            assert (depth, color) == (8, 0)
        data += body if name == b"IDAT" else b""
        at += length + 12
    raw = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, width + 1)
    image = np.zeros((height + 1, width + 1), int)  # a border of zeros above and to the left
    for i in range(height):
        kind, row = raw[i, 0], raw[i, 1:].astype(int)
        for j in range(width):
            left, up, corner = image[i + 1, j], image[i, j + 1], image[i, j]
            p = left + up - corner
            paeth = min((abs(p - left), 0, left), (abs(p - up), 1, up),
                        (abs(p - corner), 2, corner))[2]
            image[i + 1, j + 1] = (row[j] + [0, left, up, (left + up) // 2, paeth][kind]) % 256
    return image[1:, 1:]


def psnr(a, b):
    return -10 * np.log10(np.mean((a - b) ** 2))


def ssim(a, b):
    """Wang et al. 2004 on values 0 .. 1, straight from the definition."""
    g = np.exp(-np.arange(-5, 6) ** 2 / 4.5)
    window = np.outer(g, g) / g.sum() ** 2

    def mean(values):
        return np.einsum("ijkl,kl->ij", np.lib.stride_tricks.sliding_window_view(values, (11, 11)),
                         window)

    ma, mb = mean(a), mean(b)
    va, vb, cov = mean(a * a) - ma ** 2, mean(b * b) - mb ** 2, mean(a * b) - ma * mb
    return np.mean((2 * ma * mb + 1e-4) * (2 * cov + 9e-4)
                   / ((ma ** 2 + mb ** 2 + 1e-4) * (va + vb + 9e-4)))


def disc_picture(seed, height=48, width=64):
    """Shaded discs with sharp edges, 0 .. 255."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    picture = np.full((height, width), 128.0)
    for _ in range(6):
        cx, cy, r = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(6, 24)
        inside = (x - cx) ** 2 + (y - cy) ** 2 < r * r
        picture[inside] = rng.uniform(20, 235) + (0.6 * (x - cx) + 0.4 * (y - cy))[inside]
    return np.clip(picture, 0, 255).astype(np.uint8)
