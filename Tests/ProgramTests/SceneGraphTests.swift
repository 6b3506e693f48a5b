import LibAV
import MediaTypes
import Program
import Testing

@Suite("Scene geometry and filter graph text")
struct SceneGraphTests {
    private let canvas = Canvas(width: 1280, height: 720, fps: 30)
    private let hd = PictureFormat.canvas(width: 1280, height: 720)

    private func pane(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ adaption: Adaption = .cropFill) -> Pane {
        Pane(
            source: SourceID(uid: "\(x)-\(y)"), rect: Rect(x: x, y: y, width: width, height: height), adaption: adaption
        )
    }

    private func text(_ panes: [(Pane, PictureFormat)]) -> String {
        SceneGraph(panes: panes.map { (pane: $0.0, format: $0.1) }, canvas: self.canvas).text
    }

    @Test("a frame that already fits the canvas passes unchanged")
    func passThrough() { #expect(self.text([(self.pane(0, 0, 1280, 720), self.hd)]) == "[p0]null[out]") }

    @Test("the filter graph for two panes side by side uses crop and stack, without a background")
    func sideBySide() {
        let text = self.text([(self.pane(0, 0, 640, 720), self.hd), (self.pane(640, 0, 640, 720), self.hd)])
        #expect(
            text
                == "[p0]crop=640:720,setsar=1[s0];[p1]crop=640:720,setsar=1[s1];[s0][s1]xstack=inputs=2:layout=0_0|640_0[out]"
        )
    }

    @Test("panes that do not cover the canvas are laid over the background, bottom first")
    func overlays() {
        let graph = SceneGraph(
            panes: [
                (pane: self.pane(0, 0, 1280, 720), format: self.hd),
                (pane: self.pane(900, 40, 320, 180), format: self.hd),
            ],
            canvas: self.canvas)
        #expect(graph.needsBackground)
        #expect(graph.inputs.map(\.label) == ["bg", "p0", "p1"])
        #expect(
            graph.text.hasSuffix(
                "[bg][s0]overlay=x=0:y=0:format=yuv420[o0];[o0][s1]overlay=x=900:y=40:format=yuv420[out]"))
    }

    @Test("texts lie over stacked panes without a background, in one z-order with rounded and bordered panes")
    func decorated() {
        let small = PictureFormat.sprite(width: 64, height: 20)
        let halves = [self.pane(0, 0, 640, 720), self.pane(640, 0, 640, 720)]
        let stacked = SceneGraph(
            layers: [.pane(halves[0], self.hd), .pane(halves[1], self.hd), .sprite(small, x: 8, y: -4)],
            canvas: self.canvas)
        #expect(!stacked.needsBackground)
        #expect(stacked.roles == [.pane(0), .pane(1), .sprite(0)])
        #expect(
            stacked.text == """
                [p0]crop=640:720,setsar=1[s0];[p1]crop=640:720,setsar=1[s1];\
                [s0][s1]xstack=inputs=2:layout=0_0|640_0[base];[base][d0]overlay=x=8:y=-4:format=yuv420[out]
                """)
        var round = self.pane(100, 100, 640, 360)
        round.cornerRadius = 24
        round.border = Border(width: 4, color: .white)
        let laid = SceneGraph(
            layers: [.pane(self.pane(0, 0, 1280, 720), self.hd), .sprite(small, x: 0, y: 0), .pane(round, self.hd)],
            canvas: self.canvas)
        #expect(laid.roles == [.background, .pane(0), .sprite(0), .pane(1), .mask(1), .ring(1)])
        #expect(
            laid.text == """
                [p0]null[s0];[p1]scale=640:360:flags=bicubic,setsar=1[c1];[c1][m1]alphamerge[s1];\
                [bg][s0]overlay=x=0:y=0:format=yuv420[o0];[o0][d0]overlay=x=0:y=0:format=yuv420[o1];\
                [o1][s1]overlay=x=100:y=100:format=yuv420[o2];[o2][r1]overlay=x=100:y=100:format=yuv420[out]
                """)
    }

    @Test("a source crop is applied before the pane's scaling")
    func sourceCrop() {
        var pane = self.pane(0, 0, 1280, 720)
        pane.crop = PictureCrop(x: 2500, y: 0, width: 5000, height: 10_000)
        let graph = SceneGraph(panes: [(pane: pane, format: self.hd)], canvas: self.canvas)
        #expect(graph.text == "[p0]crop=640:360:320:180,scale=1280:720:flags=bicubic,setsar=1[out]")
        pane.adaption = .fit
        let fitted = SceneGraph(panes: [(pane: pane, format: self.hd)], canvas: self.canvas)
        #expect(fitted.text.hasPrefix("[p0]crop=640:720:320:0,setsar=1[s0]"))
    }

    @Test(
        "the mode cropFill crops a frame to the pane's aspect ratio",
        arguments: [
            (1280, 720, 640, 720, 640, 720), (720, 1280, 640, 720, 720, 810), (1920, 1080, 360, 640, 608, 1080),
            (640, 480, 1280, 720, 640, 360),
        ])
    func cropSizes(width: Int, height: Int, paneWidth: Int, paneHeight: Int, cropWidth: Int, cropHeight: Int) {
        let crop = PanePlacement.cropSize(
            .canvas(width: width, height: height), width, height, Rect(x: 0, y: 0, width: paneWidth, height: paneHeight)
        )
        #expect(crop == (cropWidth, cropHeight))
    }

    @Test("fit shows the whole frame, centered on even samples")
    func fits() {
        let inner = PanePlacement.fitted(720, 1280, into: Rect(x: 0, y: 0, width: 640, height: 720))
        #expect(inner == Rect(x: 116, y: 0, width: 406, height: 720))
        #expect(
            PanePlacement.fitted(1280, 720, into: Rect(x: 10, y: 20, width: 640, height: 720))
                == Rect(x: 10, y: 200, width: 640, height: 360))
    }

    @Test("full range and BT.601 are converted to the canvas's colors")
    func colors() {
        var odd = PictureFormat.canvas(width: 640, height: 480)
        odd.range = 2
        odd.matrix = 6
        let text = self.text([(self.pane(0, 0, 1280, 720), odd)])
        #expect(text.contains("in_range=full:out_range=limited:in_color_matrix=bt601:out_color_matrix=bt709"))
        #expect(text.contains("format=yuv420p"))
    }

    @Test("a canvas is tiled only when panes cover it exactly")
    func tiling() {
        let halves = [Rect(x: 0, y: 0, width: 640, height: 720), Rect(x: 640, y: 0, width: 640, height: 720)]
        #expect(SceneGraph.tiles(halves, self.canvas))
        #expect(!SceneGraph.tiles([halves[0], halves[0]], self.canvas), "same area, but one over the other")
        #expect(!SceneGraph.tiles([halves[0]], self.canvas))
        #expect(!SceneGraph.tiles([], self.canvas))
    }
}
