import Testing

import Control

@Suite("Nearest name")
struct NearestNameTests {
    @Test(
        "what was meant is found, what was not is left out",
        arguments: [
            ("scen", "scene"), ("SCENE", "scene"), ("Volume", "volume"), ("volum", "volume"),
            ("audiopush", "audioPush"),
            ("sceneId", "scene"), ("frobnicate", nil), ("", nil), (String(repeating: "s", count: 100_000), nil),
        ] as [(String, String?)])
    func nearest(name: String, expected: String?) {
        #expect(NearestName.of(name, in: ["scene", "volume", "audioPush", "videoPush"]) == expected)
    }

    @Test(
        "the distance counts single edits",
        arguments: [("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("ab", "ba", 2)])
    func distance(left: String, right: String, expected: Int) {
        #expect(NearestName.distance(Array(left.utf8), Array(right.utf8)) == expected)
        #expect(NearestName.distance(Array(right.utf8), Array(left.utf8)) == expected)
    }
}
