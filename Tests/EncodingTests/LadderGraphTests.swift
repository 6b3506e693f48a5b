import Encoding
import Testing

@Suite("Filter graph that scales the canvas to the renditions")
struct LadderGraphTests {
    @Test("each rendition is scaled from the next larger one")
    func cascade() {
        let graph = LadderGraph(sizes: [(1280, 720), (854, 480), (640, 360)], width: 1280, height: 720)
        #expect(
            graph.text
                == "[canvas]null,split=2[r0][c0];[c0]scale=854:480:flags=bicubic,setsar=1,split=2[r1][c1];[c1]scale=640:360:flags=bicubic,setsar=1[r2]"
        )
        #expect(graph.outputs == ["r0", "r1", "r2"])
    }

    @Test(
        "if renditions are listed from small to large, the smaller one is still scaled from the larger, and outputs keep their order"
    )
    func anyOrder() {
        let graph = LadderGraph(sizes: [(640, 360), (1280, 720)], width: 1280, height: 720)
        #expect(graph.text == "[canvas]null,split=2[r1][c0];[c0]scale=640:360:flags=bicubic,setsar=1[r0]")
    }

    @Test("the filter graph for a single rendition has no split filter")
    func single() {
        #expect(
            LadderGraph(sizes: [(640, 360)], width: 1280, height: 720).text
                == "[canvas]scale=640:360:flags=bicubic,setsar=1[r0]")
    }
}
