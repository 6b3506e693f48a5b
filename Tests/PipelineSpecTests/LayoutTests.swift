import MediaTypes
import PipelineSpec
import Testing

@Suite("Layouts: the panes that each layout name gives")
struct LayoutTests {
    static let canvas = Pipeline.Canvas(width: 1280, height: 720)

    private func rectangles(_ layout: Layout, _ count: Int, on canvas: Pipeline.Canvas = Self.canvas) -> [[Int]] {
        Scene("s", .layout(layout, uids: (0..<count).map { "u\($0)" }))
            .resolvedPanes(canvas: canvas).map { [$0.rect.x, $0.rect.y, $0.rect.width, $0.rect.height] }
    }

    @Test(
        "solo gives one pane over the whole canvas, side by side two halves, grid rows of equal cells with the last row centered"
    )
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

    @Test(
        "topBottom gives two halves, pip a small pane at the lower right, hostAndGuests the guests beside or below a host"
    )
    func otherRectangles() {
        #expect(self.rectangles(.topBottom, 2) == [[0, 0, 1280, 360], [0, 360, 1280, 360]])
        #expect(self.rectangles(.pip, 2) == [[0, 0, 1280, 720], [938, 518, 320, 180]])
        #expect(self.rectangles(.hostAndGuests, 1) == [[0, 0, 1280, 720]])
        #expect(
            self.rectangles(.hostAndGuests, 3) == [[0, 0, 960, 720], [960, 0, 320, 180], [960, 180, 320, 180]])
        let upright = Pipeline.Canvas(width: 720, height: 1280)
        #expect(
            self.rectangles(.hostAndGuests, 2, on: upright) == [[0, 0, 720, 960], [0, 960, 180, 320]])
    }

    @Test("auto shows the live sources, 16 at most: one alone, two in halves of the longer side, more in a grid")
    func automatic() {
        let upright = Pipeline.Canvas(width: 720, height: 1280)
        for count in 1...16 {
            let known: Layout = count == 1 ? .solo : count == 2 ? .sideBySide : .grid
            #expect(self.rectangles(.auto, count) == self.rectangles(known, count))
        }
        #expect(self.rectangles(.auto, 2, on: upright) == self.rectangles(.topBottom, 2, on: upright))
        let scene = Scene("s", .layout(.auto, uids: ["a", "b", "c"]))
        func shown(_ scene: Scene, _ live: [String]?) -> [String] {
            scene.resolvedPanes(canvas: Self.canvas, live: live).map(\.pane.source.uid)
        }
        #expect(shown(scene, ["c", "x", "a"]) == ["a", "c"])
        #expect(shown(scene, nil) == ["a", "b", "c"])
        #expect(shown(scene, []) == [])
        #expect(shown(Scene("s", .layout(.auto, uids: [])), ["c", "a"]) == ["c", "a"])
        #expect(shown(Scene("s", .layout(.auto, uids: [])), (0..<40).map { "u\($0)" }).count == 16)
    }

    @Test("in every layout, panes have even positions and sizes inside the canvas; solo and halves leave no gap")
    func everyLayout() {
        for layout in Layout.allCases {
            for count in layout.userCount {
                for (width, height) in [(1280, 720), (720, 1280), (854, 480), (64, 64), (1000, 998), (66, 1920)] {
                    let cells = layout.rectangles(for: count, width: width, height: height)
                    #expect(cells.count == count)
                    for cell in cells {
                        let numbers = [cell.x, cell.y, cell.width, cell.height]
                        #expect(numbers.allSatisfy { $0.isMultiple(of: 2) }, "\(layout) \(count) \(cell)")
                        #expect(cell.width >= 2 && cell.height >= 2 && cell.x >= 0 && cell.y >= 0)
                        #expect(cell.x + cell.width <= width && cell.y + cell.height <= height)
                    }
                    let area = cells.reduce(0) { $0 + $1.width * $1.height }
                    switch layout {
                    case .solo, .sideBySide, .topBottom: #expect(area == width * height)
                    case .hostAndGuests where count == 1 || count >= 5: #expect(area == width * height)
                    case .pip: #expect(cells[1].width * cells[1].height * 10 < width * height)
                    default: break
                    }
                }
            }
        }
    }

    @Test("grid cells have even positions and sizes, lie inside the canvas and do not overlap", arguments: 1...16)
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
                    #expect(apart, "\(cell) overlaps \(other)")
                }
            }
        }
    }

    @Test("a scene's sources are those of its panes, in every layout")
    func sources() {
        var scenes = Layout.allCases.flatMap { layout in
            layout.userCount.map { count in Scene("s", .layout(layout, uids: (0..<count).map { "u\($0)" })) }
        }
        scenes.append(Scene("auto", .layout(.auto, uids: [])))
        scenes.append(Scene("many", .layout(.auto, uids: (0..<20).map { "u\($0)" })))
        scenes.append(
            Scene(
                "panes",
                .panes([
                    Pane(SourceID("a"), x: 0, y: 0, width: 64, height: 64),
                    Pane(SourceID("a", .sub), x: 64, y: 0, width: 64, height: 64),
                ])))
        for scene in scenes {
            #expect(scene.sources == scene.resolvedPanes(canvas: Self.canvas).map(\.pane.source), "\(scene)")
        }
    }

    @Test("a layout's panes show the main stream of each uid, in order, cropped to fill")
    func panesKeepOrder() {
        let panes = Scene("pk", .layout(.sideBySide, uids: ["b", "a"])).resolvedPanes(canvas: Self.canvas)
        #expect(panes.map(\.pane.source) == [SourceID("b"), SourceID("a")])
        #expect(
            panes.map(\.pane).allSatisfy {
                $0.adaption == .cropFill && $0.audioPush && $0.videoPush && $0.volume == nil
            })
    }
}
