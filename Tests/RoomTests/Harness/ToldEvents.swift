import Dispatch
import MediaTypes
import PipelineSpec
import Synchronization

/// One event of a room, parsed from its line.
struct ToldEvent: Sendable, CustomStringConvertible {
    let type: String
    let line: String
    private let root: JSONNode?

    init(_ line: String) {
        self.line = line
        self.root = JSONParser.parse(Array(line.utf8)).root
        self.type = self.root?[key: "type"]?.string ?? ""
    }

    var description: String { self.line }

    /// Differences between the event and its declaration.
    var faults: [String] { self.root.map { ShapeCheck.faults(self.type, $0) } ?? ["no JSON: \(self.line)"] }

    /// The string value of a member; nil for null and other types.
    func text(_ name: String) -> String? { self.root?[key: name]?.string }
    /// The integer value of a member; nil for null and other types.
    func integer(_ name: String) -> Int64? { self.root?[key: name]?.integer }
    /// A member; more than one name in `path` leads into nested objects.
    func member(_ path: String...) -> JSONNode? { path.reduce(self.root) { $0?[key: $1] } }
    /// The strings in an array.
    func texts(_ name: String) -> [String] {
        guard case .array(let elements)? = self.root?[key: name]?.content else { return [] }
        return elements.compactMap(\.string)
    }
}

/// The events that a room has emitted, in order.
final class ToldEvents: Sendable {
    private let told = Mutex<[ToldEvent]>([])
    private let news = DispatchSemaphore(value: 0)

    func take(_ line: String) {
        self.told.withLock { $0.append(ToldEvent(line)) }
        self.news.signal()
    }

    /// Number of events: the start index of a search for later ones.
    var count: Int { self.told.withLock { $0.count } }

    /// The events of a type.
    ///
    /// - Parameters:
    ///   - uid: Source id as in events; nil: any source.
    ///   - start: Index of the first event to consider.
    func all(_ type: String, uid: String? = nil, from start: Int = 0) -> [ToldEvent] {
        self.told.withLock { told in
            told.dropFirst(start).filter { $0.type == type && (uid == nil || $0.text("uid") == uid) }
        }
    }

    /// Differences between the events and their declarations.
    var faults: [String] { self.told.withLock { $0 }.flatMap(\.faults) }

    /// The types of all events from `start` on, in order.
    func types(from start: Int = 0) -> [String] { self.told.withLock { $0.dropFirst(start).map(\.type) } }

    /// Blocks in real time until an event of the type arrives: for work on threads that do not wait on a ``TestClock``.
    ///
    /// - Parameter isWanted: Selects among events of the type.
    @discardableResult
    func wait(
        _ type: String, from start: Int = 0, where isWanted: (ToldEvent) -> Bool = { _ in true }
    ) throws -> ToldEvent {
        let limit = DispatchTime.now() + TestClock.patience
        while true {
            if let event = self.all(type, from: start).first(where: isWanted) { return event }
            _ = self.news.wait(timeout: .now() + .milliseconds(5))
            if .now() > limit { throw TestClock.Timeout(description: "no \(type); told: \(self.types(from: start))") }
        }
    }
}
