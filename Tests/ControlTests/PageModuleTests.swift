import Foundation
import TestSupport
import Testing

import Control

@Suite("The modules of the operator page")
struct PageModuleTests {
    private struct Rectangle: Codable, Equatable {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
    }

    @Test(
        "the operator page computes the panes' rectangles in layouts solo, pip, grid, hostAndGuests and auto, and from percent"
    )
    func rectangles() throws {
        let script = """
            import { resolvedPanes } from "./geometry.js";
            const canvas = { width: 1280, height: 720 }, uids = ["1", "2", "3"];
            const shown = input.map((scene) => resolvedPanes(scene, canvas, uids).map(({ x, y, width, height }) => ({ x, y, width, height })));
            console.log(JSON.stringify(shown));
            """
        let shown: [[Rectangle]] = try PageModules.run(
            script,
            input: """
                [{ "layout": "solo", "uids": ["1"] }, { "layout": "pip", "uids": ["1", "2"] }, { "layout": "grid", "uids": ["1", "2", "3"] },
                { "layout": "hostAndGuests", "uids": ["1", "2"] }, { "layout": "auto" },
                { "panes": [{ "uid": "1", "x": "33.33%", "y": 101, "width": "50%", "height": 360 }] }]
                """)
        #expect(
            shown == [
                [Rectangle(x: 0, y: 0, width: 1280, height: 720)],
                [
                    Rectangle(x: 0, y: 0, width: 1280, height: 720),
                    Rectangle(x: 938, y: 518, width: 320, height: 180),
                ],
                [
                    Rectangle(x: 0, y: 0, width: 640, height: 360), Rectangle(x: 640, y: 0, width: 640, height: 360),
                    Rectangle(x: 320, y: 360, width: 640, height: 360),
                ],
                [
                    Rectangle(x: 0, y: 0, width: 960, height: 720), Rectangle(x: 960, y: 0, width: 320, height: 180),
                ],
                [
                    Rectangle(x: 0, y: 0, width: 640, height: 360), Rectangle(x: 640, y: 0, width: 640, height: 360),
                    Rectangle(x: 320, y: 360, width: 640, height: 360),
                ],
                [Rectangle(x: 426, y: 100, width: 640, height: 360)],
            ])
    }

    @Test("on the operator page a dragged pane snaps to the canvas and to other panes, and stays inside the canvas")
    func snapping() throws {
        let script = """
            import { snapped } from "./geometry.js";
            const canvas = { width: 640, height: 360 }, pane = { x: 100, y: 100, width: 200, height: 100 }, other = { x: 400, y: 40, width: 100, height: 200 };
            const drags = [[95, 3, ""], [-400, 400, ""], [97, 0, "e"], [-300, -300, "se"], [31, 17, ""]];
            console.log(JSON.stringify(drags.map(([dx, dy, side]) => snapped(pane, dx, dy, side, canvas, [other], 8).rectangle)));
            """
        let shown: [Rectangle] = try PageModules.run(script)
        #expect(
            shown == [
                // The right edge is at the other pane's left edge.
                Rectangle(x: 200, y: 104, width: 200, height: 100),
                Rectangle(x: 0, y: 260, width: 200, height: 100),
                Rectangle(x: 100, y: 100, width: 300, height: 100),
                Rectangle(x: 100, y: 100, width: 16, height: 16),
                Rectangle(x: 132, y: 118, width: 200, height: 100),
            ])
    }

    @Test(
        "on the operator page undo and redo go through the states of a layout; a change after undo drops the states after it"
    )
    func history() throws {
        let script = """
            import { History } from "./geometry.js";
            const history = new History(0, 3);
            for (const value of [1, 1, 2, 3]) history.push(value);
            const seen = [history.undo(), history.undo(), history.undo(), history.redo()];
            history.push(9);
            console.log(JSON.stringify([...seen, history.redo(), history.undo()]));
            """
        // The first state is gone: three are kept.
        #expect(try PageModules.run(script) as [Int] == [2, 1, 1, 2, 9, 2])
    }

    @Test("the operator page lists the worst alarm first, and among equals the newest; cleared alarms are left out")
    func troubles() throws {
        let script = """
            import { troubles } from "./trouble.js";
            const alarm = (id, severity, setAt, state = "set") => ({ id, severity, setAt: `2026-01-01T00:00:0${setAt}Z`, state });
            console.log(JSON.stringify(troubles([alarm("a", "alert_1", 1), alarm("b", "alert_3", 2), alarm("c", "alert_3", 3), alarm("d", "alert_3", 4, "cleared")],
              [alarm("e", "alert_2", 1)]).map(({ id }) => id)));
            """
        #expect(try PageModules.run(script) as [String] == ["c", "b", "e", "a"])
    }

    @Test("the operator page's timeline keeps its beginning, at most 400 changes and 200 marks, when more come")
    func flood() throws {
        let script = """
            import { keepChange, keepMark } from "./timeline.js";
            const list = [], marks = [];
            keepChange(list, { at: 0, state: "live" });
            keepMark(marks, { at: 0, text: "first" });
            for (let index = 1; index < 5000; index += 1) {
              keepChange(list, { at: 300000 + index * 10, state: "stalled" });
              keepMark(marks, { at: 300000 + index * 10, text: `mark ${index % 100}` });
            }
            console.log(JSON.stringify([list[0].at, list.length <= 400 ? 1 : 0, list.at(-1).at, marks[0].at, marks.length <= 200 ? 1 : 0]));
            """
        #expect(try PageModules.run(script) as [Int] == [0, 1, 349_990, 0, 1])
    }

    @Test(
        "the operator page's address for a guest has the key, and the page's host in place of one that means every interface"
    )
    func addresses() throws {
        let script = """
            import { publishAddresses } from "./invite.js";
            console.log(JSON.stringify(publishAddresses({ rtmp: "rtmp://0.0.0.0:1935", control: "http://127.0.0.1:1" }, "key", "room.example")));
            """
        #expect(try PageModules.run(script) as [String] == ["rtmp://room.example:1935/live/key"])
    }

    @Test("every alarm of the alarms reference is explained on the operator page and in its guide")
    func remedies() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        func text(_ path: String) throws -> String {
            try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        }
        let reference = try text("Sources/tandem/Documentation.docc/ReferenceAlarms.md")
        let types = reference.matches(of: #/(?m)^\| `([a-z._]+)` \|/#).map { String($0.output.1) }
        #expect(types.count > 15)
        let (guide, trouble) = try (text("Sources/Control/Page/guide.html"), text("Sources/Control/Page/trouble.js"))
        for type in types {
            #expect(guide.contains("<section id=\"\(type)\">"), "\(type) is not in guide.html")
            #expect(trouble.contains("\"\(type)\": ["), "\(type) is not in trouble.js")
        }
    }
}
