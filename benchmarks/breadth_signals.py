"""Networks of sound, points, graphs and tables, in the style of published ones.

Each function returns a module with seeded weights and its inputs, at batch 1, as `networks` does.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from networks import Built, published, seeded
from torch import Tensor, nn
from torch.nn import functional


@seeded
def wav2vec_conformer() -> Built:
    """Return wav2vec 2.0 Conformer of four layers on a second of sound."""
    return published(
        "Wav2Vec2ConformerModel", "Wav2Vec2ConformerConfig", num_hidden_layers=4, hidden_size=512,
        num_attention_heads=8, intermediate_size=2048, position_embeddings_type="rotary",
    ), (torch.randn(1, 16_000),)  # fmt: skip


class Waves(nn.Module):
    """HiFi-GAN: up by transposed convolutions, sums of dilated ones of three lengths."""

    def __init__(self, width: int = 256) -> None:
        super().__init__()
        self.first, rates = nn.Conv1d(80, width, 7, padding=3), (8, 8, 2, 2)
        self.ups, self.bodies = nn.ModuleList(), nn.ModuleList()
        for rate in rates:
            self.ups.append(nn.ConvTranspose1d(width, width // 2, 2 * rate, rate, rate // 2))
            width //= 2
            self.bodies.append(
                nn.ModuleList(
                    nn.ModuleList(
                        nn.Conv1d(width, width, size, dilation=n, padding=n * (size - 1) // 2)
                        for n in (1, 3, 5)
                    )
                    for size in (3, 7, 11)
                )
            )
        self.last = nn.Conv1d(width, 1, 7, padding=3)

    def forward(self, given: Tensor) -> Tensor:
        """Return sound: 256 samples for each frame."""
        found = self.first(given)
        for up, bodies in zip(self.ups, self.bodies, strict=True):
            found = up(functional.leaky_relu(found, 0.1))
            total = torch.zeros_like(found)
            for body in bodies:  # type: ignore[attr-defined]
                each = found
                for layer in body:
                    each = each + layer(functional.leaky_relu(each, 0.1))
                total = total + each
            found = total / 3
        return torch.tanh(self.last(functional.leaky_relu(found)))


@seeded
def hifigan() -> Built:
    """Return HiFi-GAN on 32 frames."""
    return Waves(), (torch.randn(1, 80, 32),)


class Separation(nn.Module):
    """Demucs: strided convolutions with gates down, an LSTM, and the same up again."""

    def __init__(self, width: int = 48, depth: int = 4) -> None:
        super().__init__()
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        inside = 2
        for step in range(depth):
            outside = width << step
            self.down.append(
                nn.Sequential(
                    nn.Conv1d(inside, outside, 8, 4, 2), nn.ReLU(),
                    nn.Conv1d(outside, 2 * outside, 1), nn.GLU(1),
                )
            )  # fmt: skip
            self.up.insert(
                0,
                nn.Sequential(
                    nn.Conv1d(outside, 2 * outside, 3, padding=1), nn.GLU(1),
                    nn.ConvTranspose1d(outside, inside if step else 8, 8, 4, 2),
                ),
            )  # fmt: skip
            inside = outside
        self.body = nn.LSTM(inside, inside, num_layers=1, bidirectional=True, batch_first=True)
        self.narrow = nn.Linear(2 * inside, inside)

    def forward(self, given: Tensor) -> Tensor:
        """Return four sources of two channels."""
        kept = [given]
        for down in self.down:
            kept.append(down(kept[-1]))
        mixed, _ = self.body(kept[-1].transpose(1, 2))
        found = self.narrow(mixed).transpose(1, 2)
        for up in self.up:
            found = up(found + kept.pop())
        return found


@seeded
def demucs() -> Built:
    """Return a Demucs-like network on 8,192 samples."""
    return Separation(), (torch.randn(1, 2, 8192),)


class Points(nn.Module):
    """PointNet: a transformation that is learned, shared perceptrons, the largest of all points."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = nn.ModuleList(self._shared(3, 64, 128, 512) for _ in range(1))
        self.matrix = nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 9))
        self.first, self.second = self._shared(3, 64, 64), self._shared(64, 64, 128, 1024)
        self.last = nn.Sequential(nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 40))

    @staticmethod
    def _shared(*widths: int) -> nn.Sequential:
        parts: list[nn.Module] = []
        for inside, outside in pairwise(widths):
            parts += [nn.Conv1d(inside, outside, 1), nn.BatchNorm1d(outside), nn.ReLU()]
        return nn.Sequential(*parts)

    def forward(self, given: Tensor) -> Tensor:
        """Return scores of forty classes."""
        turned = self.matrix(self.turn[0](given).amax(2)).view(-1, 3, 3)
        turned = turned + torch.eye(3, dtype=given.dtype, device=given.device)
        found = self.second(self.first(turned @ given))
        result: Tensor = self.last(found.amax(2))
        return result


@seeded
def pointnet() -> Built:
    """Return PointNet on 2,048 points."""
    return Points(), (torch.randn(1, 3, 2048),)


class EdgeConvolution(nn.Module):
    """DGCNN: the twenty nearest in the space of features, and the largest of what edges give."""

    def __init__(self, inside: int, outside: int, near: int = 20) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2 * inside, outside, 1, bias=False), nn.BatchNorm2d(outside),
            nn.LeakyReLU(0.2),
        )  # fmt: skip
        self.near = near

    def forward(self, given: Tensor) -> Tensor:
        """Return features of all points."""
        squares = given.square().sum(1)
        apart = squares[:, :, None] - 2 * given.transpose(1, 2) @ given + squares[:, None]
        places = apart.topk(self.near, dim=-1, largest=False).indices
        batch, channels, points = given.shape
        flat = places.view(batch, 1, -1).expand(-1, channels, -1)
        others = given.gather(2, flat).view(batch, channels, points, self.near)
        own = given[..., None].expand(-1, -1, -1, self.near)
        found: Tensor = self.body(torch.cat([others - own, own], 1)).amax(-1)
        return found


@seeded
def dgcnn() -> Built:
    """Return two edge convolutions on 512 points."""
    return nn.Sequential(EdgeConvolution(3, 64), EdgeConvolution(64, 128)), (
        torch.randn(1, 3, 512),
    )


class Ranking(nn.Module):
    """DLRM: tables of words, products of all pairs, perceptrons."""

    def __init__(self, tables: int = 26, width: int = 64) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(5000, width) for _ in range(tables))
        self.below = nn.Sequential(
            nn.Linear(13, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, width),
            nn.ReLU(),
        )  # fmt: skip
        pairs = torch.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer("pairs", pairs)
        self.above = nn.Sequential(
            nn.Linear(width + pairs.shape[1], 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(),
            nn.Linear(256, 1), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, numbers: Tensor, words: Tensor) -> Tensor:
        """Return how likely each row is."""
        dense = self.below(numbers)
        rows = [table(words[:, n]) for n, table in enumerate(self.tables)]
        every = torch.stack([dense, *rows], 1)
        products = every @ every.transpose(1, 2)
        pairs = products[:, self.pairs[0], self.pairs[1]]  # type: ignore[index]
        found: Tensor = self.above(torch.cat([dense, pairs], 1))
        return found


@seeded
def dlrm() -> Built:
    """Return DLRM with 26 tables."""
    return Ranking(), (torch.randn(1, 13), torch.randint(0, 5000, (1, 26)))


class Attending(nn.Module):
    """GAT: scores of a dense graph's edges from both ends, a softmax over neighbours."""

    def __init__(self, inside: int, outside: int, heads: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inside, outside, bias=False)
        self.start = nn.Parameter(torch.randn(heads, outside // heads) / 8)
        self.end = nn.Parameter(torch.randn(heads, outside // heads) / 8)
        self.heads = heads

    def forward(self, given: Tensor, edges: Tensor) -> Tensor:
        """Return features of all nodes; `edges` is true where there is one."""
        wide = self.linear(given).unflatten(-1, (self.heads, -1))
        start, end = (wide * self.start).sum(-1), (wide * self.end).sum(-1)
        scores = functional.leaky_relu(start[:, :, None] + end[:, None], 0.2)
        shares = scores.masked_fill(~edges[..., None], -1e4).softmax(2)
        mixed = torch.einsum("bijh,bjhc->bihc", shares, wide)
        return functional.elu(mixed.flatten(2))


class Graph(nn.Module):
    """Two layers of GAT over edges that are near in what was given."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Attending(64, 128, 8), Attending(128, 128, 8)
        self.last = nn.Linear(128, 16)

    def forward(self, given: Tensor) -> Tensor:
        """Return scores of each node."""
        edges = given @ given.transpose(1, 2) > 0
        found = self.second(self.first(given, edges), edges)
        result: Tensor = self.last(found)
        return result


@seeded
def gat() -> Built:
    """Return GAT on 512 nodes."""
    return Graph(), (torch.randn(1, 512, 64),)


class Messages(nn.Module):
    """A network of messages along edges: gathered at one end, added up at the other."""

    def __init__(self, width: int = 128, layers: int = 3) -> None:
        super().__init__()
        self.first = nn.Linear(32, width)
        self.messages = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(layers))
        self.updates = nn.ModuleList(nn.GRUCell(width, width) for _ in range(layers))
        self.last = nn.Linear(width, 1)

    def forward(self, given: Tensor, edges: Tensor) -> Tensor:
        """Return one number for each graph; `edges` has the two ends of each."""
        found = self.first(given)
        batch, nodes, width = found.shape
        start, end = (n[..., None].expand(-1, -1, width) for n in edges.unbind(1))
        for message, update in zip(self.messages, self.updates, strict=True):
            pairs = torch.cat([found.gather(1, start), found.gather(1, end)], -1)
            sums = torch.zeros_like(found).scatter_add(1, end, torch.relu(message(pairs)))
            found = update(sums.flatten(0, 1), found.flatten(0, 1)).view(batch, nodes, width)
        result: Tensor = self.last(found.mean(1))
        return result


@seeded
def messages() -> Built:
    """Return three rounds of messages over 256 nodes and 1,024 edges."""
    return Messages(), (torch.randn(1, 256, 32), torch.randint(0, 256, (1, 2, 1024)))


class Speaking(nn.Module):
    """A step of Tacotron's decoder: two LSTM cells and attention that knows where it was."""

    def __init__(self, width: int = 512) -> None:
        super().__init__()
        self.before = nn.Sequential(nn.Linear(80, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.first = nn.LSTMCell(256 + width, 1024)
        self.second = nn.LSTMCell(1024 + width, 1024)
        self.query, self.key = nn.Linear(1024, 128, bias=False), nn.Linear(width, 128, bias=False)
        self.where, self.place = nn.Conv1d(2, 32, 31, padding=15), nn.Linear(32, 128, bias=False)
        self.score, self.last = nn.Linear(128, 1, bias=False), nn.Linear(1024 + width, 80)

    def forward(self, frame: Tensor, text: Tensor, states: Tensor, shares: Tensor) -> Tensor:
        """Return the next frame, and all that the next step needs, in one row."""
        h1, c1, h2, c2 = states.unbind(1)
        seen = (shares[:, :1] @ text).squeeze(1)
        h1, c1 = self.first(torch.cat([self.before(frame), seen], -1), (h1, c1))
        places = self.place(self.where(shares).transpose(1, 2))
        energy = self.score(torch.tanh(self.query(h1)[:, None] + self.key(text) + places))
        now = energy.squeeze(-1).softmax(-1)
        seen = (now[:, None] @ text).squeeze(1)
        h2, c2 = self.second(torch.cat([h1, seen], -1), (h2, c2))
        return torch.cat([self.last(torch.cat([h2, seen], -1)), h1, c1, h2, c2, now], -1)


@seeded
def tacotron_step() -> Built:
    """Return a step of Tacotron 2's decoder over 128 letters."""
    shares = torch.rand(1, 2, 128).softmax(-1)
    return Speaking(), (
        torch.randn(1, 80), torch.randn(1, 128, 512), torch.randn(1, 4, 1024), shares,
    )  # fmt: skip


@seeded
def encodec() -> Built:
    """Return EnCodec's encoder on 4,800 samples: causal convolutions, an LSTM."""
    import transformers

    return transformers.EncodecModel(transformers.EncodecConfig()).encoder, (
        torch.randn(1, 1, 4800),
    )
