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

    @Test("with renditions from small to large, outputs are still scaled from the larger one, under the right names")
    func anyOrder() {
        let graph = LadderGraph(sizes: [(640, 360), (1280, 720)], width: 1280, height: 720)
        #expect(graph.text == "[canvas]null,split=2[r1][c0];[c0]scale=640:360:flags=bicubic,setsar=1[r0]")
    }

    @Test("the graph for one rendition has no split filter")
    func single() {
        #expect(
            LadderGraph(sizes: [(640, 360)], width: 1280, height: 720).text
                == "[canvas]scale=640:360:flags=bicubic,setsar=1[r0]")
    }
}
