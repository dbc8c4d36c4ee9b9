# Turns the colors of a light diagram into those of the dark theme of GitHub.
s/#1f2328/#f0f6fc/g
s/#59636e/#9198a1/g
s/#f6f8fa/#151b23/g
s/#d1d9e0/#3d444d/g
s/#ddf4ff/#0c2d6b/g
s/#0969da/#4493f8/g
s/#dafbe1/#033a16/g
s/#1a7f37/#3fb950/g
s/#ffebe9/#490202/g
s/#cf222e/#f85149/g
s/#fff8c5/#341a00/g
s/#9a6700/#d29922/g
