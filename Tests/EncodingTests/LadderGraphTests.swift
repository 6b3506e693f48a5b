import Encoding
import Testing

@Suite("The scaling cascade")
struct LadderGraphTests {
    @Test("each size comes from the next larger one, in one chain")
    func cascade() {
        let graph = LadderGraph(sizes: [(1280, 720), (854, 480), (640, 360)], width: 1280, height: 720)
        #expect(
            graph.text
                == "[canvas]null,split=2[r0][c0];[c0]scale=854:480:flags=bicubic,setsar=1,split=2[r1][c1];[c1]scale=640:360:flags=bicubic,setsar=1[r2]"
        )
        #expect(graph.outputs == ["r0", "r1", "r2"])
    }

    @Test("a ladder written small to large gives the same pictures under its own names")
    func anyOrder() {
        let graph = LadderGraph(sizes: [(640, 360), (1280, 720)], width: 1280, height: 720)
        #expect(graph.text == "[canvas]null,split=2[r1][c0];[c0]scale=640:360:flags=bicubic,setsar=1[r0]")
    }

    @Test("one rendition needs no split")
    func single() {
        #expect(
            LadderGraph(sizes: [(640, 360)], width: 1280, height: 720).text
                == "[canvas]scale=640:360:flags=bicubic,setsar=1[r0]")
    }
}
