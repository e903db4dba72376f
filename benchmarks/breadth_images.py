"""Networks of images in the style of published ones, each for a mechanism that others lack.

Each function returns a module with seeded weights and its inputs, at batch 1, as `networks` does.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from networks import Built, image, published, seeded
from torch import Tensor, nn
from torch.nn import functional


def normalised(
    inside: int, outside: int, kernel: int | tuple[int, int] = 3, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """Return a convolution, normalised by batch, with ReLU."""
    kernel = (kernel, kernel) if isinstance(kernel, int) else kernel
    padding = kernel[0] // 2, kernel[1] // 2
    return nn.Sequential(
        nn.Conv2d(inside, outside, kernel, stride, padding, groups=groups, bias=False),
        nn.BatchNorm2d(outside), nn.ReLU(),
    )  # fmt: skip


class Branches(nn.Module):
    """What several parts give of one image, side by side."""

    def __init__(self, *parts: nn.Module) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)

    def forward(self, given: Tensor) -> Tensor:
        """Return all channels."""
        return torch.cat([part(given) for part in self.parts], 1)


def mixed_block(inside: int, pooled: int) -> nn.Module:
    """Return a block of Inception with windows of 1, 5 and twice 3, and an average."""
    return Branches(
        normalised(inside, 64, 1),
        nn.Sequential(normalised(inside, 48, 1), normalised(48, 64, 5)),
        nn.Sequential(normalised(inside, 64, 1), normalised(64, 96), normalised(96, 96)),
        nn.Sequential(
            nn.AvgPool2d(3, 1, 1, count_include_pad=False), normalised(inside, pooled, 1)
        ),
    )


def long_block(inside: int, width: int) -> nn.Module:
    """Return a block of Inception with windows of one row and one column of seven."""
    row, column = (1, 7), (7, 1)
    return Branches(
        normalised(inside, 192, 1),
        nn.Sequential(
            normalised(inside, width, 1), normalised(width, width, row),
            normalised(width, 192, column),
        ),
        nn.Sequential(
            normalised(inside, width, 1), normalised(width, width, column),
            normalised(width, width, row), normalised(width, 192, column),
        ),
        nn.Sequential(nn.MaxPool2d(3, 1, 1), normalised(inside, 192, 1)),
    )  # fmt: skip


@seeded
def inception() -> Built:
    """Return what Inception-v3 is made of."""
    down = Branches(
        normalised(288, 384, 3, 2),
        nn.Sequential(normalised(288, 64, 1), normalised(64, 96), normalised(96, 96, 3, 2)),
        nn.MaxPool2d(3, 2, 1),
    )
    network = nn.Sequential(
        normalised(3, 32, 3, 2), normalised(32, 64), nn.MaxPool2d(3, 2), normalised(64, 80, 1),
        normalised(80, 192), nn.MaxPool2d(3, 2), mixed_block(192, 32), mixed_block(256, 64),
        mixed_block(288, 64), down, long_block(768, 128), long_block(768, 160),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(768, 1000),
    )  # fmt: skip
    return network, image(299)


class Shuffled(nn.Module):
    """A unit of ShuffleNet-v2: half of the channels pass, and all are shuffled."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        half = outside // 2
        start = inside if stride > 1 else half
        self.stride = stride
        self.body = nn.Sequential(
            normalised(start, half, 1),
            nn.Conv2d(half, half, 3, stride, 1, groups=half, bias=False), nn.BatchNorm2d(half),
            normalised(half, half, 1),
        )  # fmt: skip
        self.side = nn.Sequential(
            nn.Conv2d(start, start, 3, stride, 1, groups=start, bias=False), nn.BatchNorm2d(start),
            normalised(start, half, 1),
        )  # fmt: skip

    def forward(self, given: Tensor) -> Tensor:
        """Return channels of both halves by turns."""
        if self.stride > 1:
            found = torch.cat([self.side(given), self.body(given)], 1)
        else:
            kept, changed = given.chunk(2, 1)
            found = torch.cat([kept, self.body(changed)], 1)
        batch, channels, rows, columns = found.shape
        return found.view(batch, 2, channels // 2, rows, columns).transpose(1, 2).flatten(1, 2)


@seeded
def shufflenet() -> Built:
    """Return ShuffleNet-v2 1.0×."""
    parts: list[nn.Module] = [normalised(3, 24, 3, 2), nn.MaxPool2d(3, 2, 1)]
    width = 24
    for outside, repeats in ((116, 4), (232, 8), (464, 4)):
        parts.append(Shuffled(width, outside, 2))
        parts += [Shuffled(outside, outside, 1) for _ in range(repeats - 1)]
        width = outside
    parts += [normalised(width, 1024, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*parts, nn.Linear(1024, 1000)), image()


class Ghost(nn.Module):
    """Half of the channels by a product, the other half of these by windows; squeezed."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.main, self.cheap = (
            normalised(width, hidden, 1),
            normalised(hidden, hidden, 3, 1, hidden),
        )
        self.squeeze, self.excite = nn.Conv2d(2 * hidden, 32, 1), nn.Conv2d(32, 2 * hidden, 1)
        self.out, self.more = (
            nn.Conv2d(2 * hidden, width // 2, 1),
            nn.Conv2d(width // 2, width // 2, 3, padding=1, groups=width // 2),
        )

    def forward(self, given: Tensor) -> Tensor:
        """Return the same shape."""
        main = self.main(given)
        wide = torch.cat([main, self.cheap(main)], 1)
        gate = self.excite(torch.relu(self.squeeze(wide.mean((2, 3), keepdim=True))))
        narrow = self.out(wide * functional.hardsigmoid(gate))
        return given + torch.cat([narrow, self.more(narrow)], 1)


@seeded
def ghostnet() -> Built:
    """Return twelve modules of GhostNet."""
    parts: list[nn.Module] = [normalised(3, 16, 3, 2)]
    for width, deeper in ((16, 40), (40, 80), (80, 160), (160, 160)):
        parts += [Ghost(width, 3 * width // 2) for _ in range(3)]
        parts.append(normalised(width, deeper, 3, 2, 8))
    parts += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(160, 1000)]
    return nn.Sequential(*parts), image()


class Bottleneck(nn.Module):
    """1×1, 3×3 in groups, 1×1, added."""

    def __init__(self, inside: int, width: int, outside: int, stride: int, groups: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            normalised(inside, width, 1), normalised(width, width, 3, stride, groups),
            nn.Conv2d(width, outside, 1, bias=False), nn.BatchNorm2d(outside),
        )  # fmt: skip
        self.side = nn.Conv2d(inside, outside, 1, stride, bias=False)

    def forward(self, given: Tensor) -> Tensor:
        """Return the sum."""
        return torch.relu(self.body(given) + self.side(given))


@seeded
def resnext50() -> Built:
    """Return ResNeXt-50 (32×4d), each sum with a product on its other side."""
    parts: list[nn.Module] = [normalised(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for stage, repeats in enumerate((3, 4, 6, 3)):
        width = 128 << stage
        for step in range(repeats):
            stride = 2 if stage and not step else 1
            parts.append(Bottleneck(inside, width, 2 * width, stride, 32))
            inside = 2 * width
    parts += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, 1000)]
    return nn.Sequential(*parts), image()


class Crossed(nn.Module):
    """CSP: half of the channels through a chain of sums, all parts kept side by side."""

    def __init__(self, inside: int, outside: int, repeats: int) -> None:
        super().__init__()
        half = outside // 2
        self.first = self._step(inside, 2 * half, 1)
        self.chain = nn.ModuleList(
            nn.Sequential(self._step(half, half, 3), self._step(half, half, 3))
            for _ in range(repeats)
        )
        self.last = self._step((2 + repeats) * half, outside, 1)

    @staticmethod
    def _step(inside: int, outside: int, kernel: int, stride: int = 1) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(inside, outside, kernel, stride, kernel // 2, bias=False),
            nn.BatchNorm2d(outside), nn.SiLU(),
        )  # fmt: skip

    def forward(self, given: Tensor) -> Tensor:
        """Return what all parts come to."""
        parts = list(self.first(given).chunk(2, 1))
        for step in self.chain:
            parts.append(parts[-1] + step(parts[-1]))
        found: Tensor = self.last(torch.cat(parts, 1))
        return found


class Detector(nn.Module):
    """YOLO-like: CSP, pools of 5 in a row, up and down again, boxes from distributions."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        step = Crossed._step
        self.stem = nn.Sequential(step(3, width, 3, 2), step(width, 2 * width, 3, 2))
        self.two = Crossed(2 * width, 2 * width, 1)
        self.three = nn.Sequential(
            step(2 * width, 4 * width, 3, 2), Crossed(4 * width, 4 * width, 2)
        )
        self.four = nn.Sequential(
            step(4 * width, 8 * width, 3, 2), Crossed(8 * width, 8 * width, 2)
        )
        self.before, self.after = step(8 * width, 4 * width, 1), step(16 * width, 8 * width, 1)
        self.up, self.down = Crossed(12 * width, 4 * width, 1), Crossed(12 * width, 8 * width, 1)
        self.smaller = step(4 * width, 4 * width, 3, 2)
        self.heads = nn.ModuleList(
            nn.Sequential(step(n, 64, 3), nn.Conv2d(64, 64 + 80, 1)) for n in (4 * width, 8 * width)
        )

    def forward(self, given: Tensor) -> Tensor:
        """Return boxes and scores of all places."""
        fine = self.three(self.two(self.stem(given)))
        pooled = [self.before(self.four(fine))]
        for _ in range(3):
            pooled.append(functional.max_pool2d(pooled[-1], 5, 1, 2))
        coarse = self.after(torch.cat(pooled, 1))
        fine = self.up(torch.cat([functional.interpolate(coarse, scale_factor=2.0), fine], 1))
        coarse = self.down(torch.cat([self.smaller(fine), coarse], 1))
        found = [head(n).flatten(2) for head, n in zip(self.heads, (fine, coarse), strict=True)]
        boxes, scores = torch.cat(found, 2).split((64, 80), 1)
        sides = boxes.unflatten(1, (4, 16)).softmax(2)
        steps = torch.arange(16, dtype=sides.dtype, device=sides.device)
        near, far = (sides * steps[None, None, :, None]).sum(2).chunk(2, 1)
        return torch.cat([(near + far) / 2, far - near, scores.sigmoid()], 1)


@seeded
def detector() -> Built:
    """Return a YOLO-like detector on 320×320 pixels."""
    return Detector(), image(320)


class Exchange(nn.Module):
    """HRNet: branches of three sizes, each becoming the sum of all."""

    def __init__(self, widths: Sequence[int]) -> None:
        super().__init__()
        self.own = nn.ModuleList(
            nn.Sequential(normalised(n, n), normalised(n, n), normalised(n, n)) for n in widths
        )
        self.ways = nn.ModuleList(
            nn.ModuleList(self._way(a, b, widths) for a in range(len(widths)))
            for b in range(len(widths))
        )

    @staticmethod
    def _way(start: int, end: int, widths: Sequence[int]) -> nn.Module:
        inside, outside = widths[start], widths[end]
        if start == end:
            return nn.Identity()
        if start > end:
            scale = float(2 ** (start - end))
            return nn.Sequential(
                nn.Conv2d(inside, outside, 1, bias=False), nn.BatchNorm2d(outside),
                nn.Upsample(scale_factor=scale, mode="nearest"),
            )  # fmt: skip
        down = [normalised(inside, inside, 3, 2) for _ in range(end - start - 1)]
        return nn.Sequential(*down, nn.Conv2d(inside, outside, 3, 2, 1), nn.BatchNorm2d(outside))

    def forward(self, given: Sequence[Tensor]) -> list[Tensor]:
        """Return images of the same sizes."""
        own = [step(each) for step, each in zip(self.own, given, strict=True)]
        found = []
        for ways in self.ways:
            parts = [way(each) for way, each in zip(ways, own, strict=True)]  # type: ignore[arg-type]
            found.append(torch.relu(sum(parts[1:], parts[0])))
        return found


class HighResolution(nn.Module):
    """HRNet of three branches."""

    def __init__(self, widths: Sequence[int] = (18, 36, 72)) -> None:
        super().__init__()
        self.stem = nn.Sequential(normalised(3, 64, 3, 2), normalised(64, 64, 3, 2))
        self.start = nn.ModuleList(
            normalised(64, n, 3, 1) if not i else nn.Sequential(
                *(normalised(64 if not j else n, n, 3, 2) for j in range(i))
            )
            for i, n in enumerate(widths)
        )  # fmt: skip
        self.stages = nn.ModuleList(Exchange(widths) for _ in range(3))
        self.last = nn.Conv2d(sum(widths), 17, 1)

    def forward(self, given: Tensor) -> Tensor:
        """Return seventeen maps."""
        stem = self.stem(given)
        found = [part(stem) for part in self.start]
        for stage in self.stages:
            found = stage(found)
        sized = [
            functional.interpolate(n, found[0].shape[2:], mode="bilinear", align_corners=False)
            for n in found
        ]
        result: Tensor = self.last(torch.cat(sized, 1))
        return result


@seeded
def hrnet() -> Built:
    """Return HRNet-W18 of three branches."""
    return HighResolution(), image(256)


@seeded
def sam_encoder() -> Built:
    """Return SAM's encoder of four layers: windows, and positions by row and by column."""
    settings = {"num_hidden_layers": 4, "global_attn_indexes": [3], "image_size": 512}
    return published("SamVisionModel", "SamVisionConfig", **settings), image(512)


@seeded
def focalnet() -> Built:
    """Return FocalNet-T."""
    return published("FocalNetForImageClassification", "FocalNetConfig"), image()


@seeded
def detr() -> Built:
    """Return DETR on a ResNet-50, 320×320 pixels."""
    import transformers

    backbone = transformers.ResNetConfig(out_features=["stage4"])
    network = published(
        "DetrForObjectDetection", "DetrConfig", use_timm_backbone=False, backbone_config=backbone,
        use_pretrained_backbone=False, backbone=None, num_queries=100,
    )  # fmt: skip
    return network, image(320)
