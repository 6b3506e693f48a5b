import MediaTypes
import PipelineSpec
import Testing

@Suite("Layouts: names turned into panes")
struct LayoutTests {
    static let canvas = Pipeline.Canvas(width: 1280, height: 720)

    private func rectangles(_ layout: Layout, _ count: Int, on canvas: Pipeline.Canvas = Self.canvas) -> [[Int]] {
        Scene("s", .layout(layout, uids: (0..<count).map { "u\($0)" }))
            .resolvedPanes(canvas: canvas).map { [$0.x, $0.y, $0.width, $0.height] }
    }

    @Test("solo is the whole canvas, side by side two halves, a grid rows of equal cells with the last one centered")
    func knownRectangles() {
        #expect(self.rectangles(.solo, 1) == [[0, 0, 1280, 720]])
        #expect(self.rectangles(.sideBySide, 2) == [[0, 0, 640, 720], [640, 0, 640, 720]])
        #expect(
            self.rectangles(.grid, 3) == [[0, 0, 640, 360], [640, 0, 640, 360], [320, 360, 640, 360]])
        #expect(self.rectangles(.grid, 1) == [[0, 0, 1280, 720]])
        #expect(
            self.rectangles(.sideBySide, 2, on: .init(width: 1282, height: 720)) == [
                [0, 0, 640, 720], [640, 0, 642, 720],
            ])
    }

    @Test("every cell is even, inside the canvas and apart from the others", arguments: 1...16)
    func cellsAreEvenAndApart(count: Int) {
        for canvas in [(1280, 720), (720, 1280), (854, 480), (66, 64), (1000, 998)] {
            let cells = self.rectangles(.grid, count, on: .init(width: canvas.0, height: canvas.1))
            #expect(cells.count == count)
            for (index, cell) in cells.enumerated() {
                #expect(cell.allSatisfy { $0.isMultiple(of: 2) }, "\(canvas) \(cell)")
                #expect(cell[2] >= 2 && cell[3] >= 2)
                #expect(cell[0] >= 0 && cell[0] + cell[2] <= canvas.0 && cell[1] + cell[3] <= canvas.1)
                for other in cells[..<index] {
                    let apart =
                        cell[0] >= other[0] + other[2] || other[0] >= cell[0] + cell[2]
                        || cell[1] >= other[1] + other[3]
                    #expect(apart, "\(cell) lies on \(other)")
                }
            }
        }
    }

    @Test("panes take the main stream of their users, in order, filling their rectangle")
    func panesKeepOrder() {
        let panes = Scene("pk", .layout(.sideBySide, uids: ["b", "a"])).resolvedPanes(canvas: Self.canvas)
        #expect(panes.map(\.source) == [SourceID("b"), SourceID("a")])
        #expect(panes.allSatisfy { $0.adaption == .cropFill && $0.audioPush && $0.videoPush && $0.volume == nil })
    }
}
