import Control
import Dispatch
import MediaTypes
import Recording
import Room
import Synchronization
import Testing

@Suite("Clips that are being made, and that wait, when the room is over")
struct ClipDeskTests {
    private static func unfinished() -> MediaError { MediaError(.unfinished, "over", at: "clip", fix: "none") }

    @Test(
        "what waits is given up at once, what is being made when it looks; what was held for either is given back once")
    func close() throws {
        let released = Mutex<[String]>([])
        let (told, began, goes) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let failed = Mutex<[String]>([])
        let desk = ClipDesk(roomID: "1") { clip in
            if clip.state == .failed { failed.withLock { $0.append(clip.name) } }
            told.signal()
        }
        func add(_ name: String, _ body: @escaping @Sendable () -> Void) throws {
            _ = try desk.add(name: name, rendition: "r", range: 0..<1, incarnation: 1) { id, name in
                ClipDesk.Work(id: id, release: { released.withLock { $0.append(name) } }) { isOver throws(MediaError) in
                    body()
                    #expect(isOver())
                    throw Self.unfinished()
                }
            }
        }
        try add("first") {
            began.signal()
            goes.wait()
        }
        began.wait()
        try add("second") { Issue.record("it has not begun") }
        desk.close()
        #expect(released.withLock { $0 } == ["second"] && failed.withLock { $0 } == ["second"])
        goes.signal()
        // Whoever closes the room waits for it, and for what it holds.
        #expect(desk.join(within: 60_000_000_000))
        #expect(released.withLock(\.count) == 2)
        for _ in 0..<2 { told.wait() }
        #expect(released.withLock { $0 } == ["second", "first"] && failed.withLock { $0 } == ["second", "first"])
        #expect(throws: ControlFailure.self) { try add("third") { Issue.record("the room is over") } }
    }

    @Test("a disk that fills takes what waits, and what is held for it; what is being made goes on until it looks")
    func full() throws {
        let released = Mutex<[String]>([])
        let states = Mutex<[String]>([])
        let (told, began, goes) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let desk = ClipDesk(roomID: "1") { clip in
            states.withLock { $0.append("\(clip.name) \(clip.state.rawValue)") }
            told.signal()
        }
        func add(_ name: String, _ body: @escaping @Sendable (_ isOver: Bool) -> Void) throws {
            _ = try desk.add(name: name, rendition: "r", range: 0..<1, incarnation: 1) { id, name in
                ClipDesk.Work(id: id, release: { released.withLock { $0.append(name) } }) { isOver throws(MediaError) in
                    body(isOver())
                    throw Self.unfinished()
                }
            }
        }
        try add("first") { isOver in
            began.signal()
            goes.wait()
            #expect(!isOver)
        }
        began.wait()
        try add("second") { _ in Issue.record("it has not begun") }
        desk.giveUpWaiting(MediaError(.diskFull, "full", at: "clip", fix: "none"))
        told.wait()
        #expect(released.withLock { $0 } == ["second"] && states.withLock { $0 } == ["second failed"])
        // Whoever asks when there is space again is heard.
        try add("third") { isOver in #expect(!isOver) }
        goes.signal()
        for _ in 0..<2 { told.wait() }
        #expect(released.withLock { $0 } == ["second", "first", "third"])
    }

    @Test("a clip whose disk hangs is waited for no longer than there is time, and none not at all")
    func hanging() throws {
        let (began, goes) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let desk = ClipDesk(roomID: "1") { _ in }
        #expect(desk.join(within: 0))
        _ = try desk.add(name: "first", rendition: "r", range: 0..<1, incarnation: 1) { id, _ in
            ClipDesk.Work(id: id, release: {}) { _ throws(MediaError) in
                began.signal()
                goes.wait()
                throw Self.unfinished()
            }
        }
        began.wait()
        desk.close()
        #expect(!desk.join(within: 1_000_000))
        goes.signal()
    }

    @Test("two rooms whose clips lie in one directory give them different names")
    func names() throws {
        var names: [String] = []
        for room in ["88231", "88232"] {
            let desk = ClipDesk(roomID: room) { _ in }
            let clip = try desk.add(name: nil, rendition: "r", range: 0..<1, incarnation: 2) { id, name in
                names.append(name)
                return ClipDesk.Work(id: id, release: {}) { _ throws(MediaError) in throw Self.unfinished() }
            }
            #expect(clip.id == "clip-2-1" && clip.name == names.last)
        }
        #expect(names == ["clip-88231-2-1", "clip-88232-2-1"])
    }
}
