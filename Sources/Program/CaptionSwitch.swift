package import MediaTypes
import Synchronization

/// The closed captions of the program: chooses the source at every tick and takes its captions for the tick's frame.
/// Used on the program thread, except where stated.
package final class CaptionSwitch: Sendable {
    /// The source whose captions the program carries.
    package enum Choice: Sendable, Hashable {
        /// The captions of the source with the largest visible pane of the scene on air; among equal panes, the first of
        /// the scene.
        case onAir
        /// The captions of this source, also while no pane shows it.
        case source(SourceID)
    }

    private struct State {
        var choice: Choice
        var lanes: [Lane] = []
        var current: SourceID?
        var memory = CaptionChannels()
        /// The captions that were taken last, for ``putBack()``.
        var taken: [CaptionPair] = []
        /// Whether ``taken`` was removed from ``clearing``, and not from a queue.
        var hasTakenClearing = false
        /// Control codes that still have to be sent, because the source has changed or its publication has ended.
        var clearing: [CaptionPair] = []
    }

    private struct Lane {
        let id: SourceID
        let inbox: CaptionInbox
        var queue: CaptionQueue
        /// Whether the publication has ended; captions that arrive later reset it.
        var hasEnded = false
    }

    private let fps: Int
    private let isOffline: Bool
    private let state: Mutex<State>

    /// - Parameters:
    ///   - isOffline: See ``CaptionQueue/init(fps:isOffline:)``.
    ///   - lanes: Inboxes of the sources that the room has when it is opened.
    package init(_ choice: Choice, fps: Int, isOffline: Bool = false, lanes: [SourceID: CaptionInbox]) {
        self.fps = fps
        self.isOffline = isOffline
        self.state = Mutex(State(choice: choice))
        for (id, inbox) in lanes { self.add(id, inbox) }
    }

    /// Sets the source; takes effect at the next tick. May be called on any thread.
    package func choose(_ choice: Choice) { self.state.withLock { $0.choice = choice } }

    /// Adds a source. Must be called before the source's thread runs. May be called on any thread.
    package func add(_ id: SourceID, _ inbox: CaptionInbox) {
        inbox.open()
        self.state.withLock { state in
            state.lanes.removeAll { $0.id == id }
            state.lanes.append(
                Lane(id: id, inbox: inbox, queue: CaptionQueue(fps: self.fps, isOffline: self.isOffline)))
        }
    }

    /// Removes a source. May be called on any thread.
    package func remove(_ id: SourceID) { self.state.withLock { state in state.lanes.removeAll { $0.id == id } } }

    /// Removes and returns the captions for the frame of `tick`.
    ///
    /// - Parameters:
    ///   - onAir: The source of the tick for ``Choice/onAir``.
    ///   - hidden: Sources that are covered by a command; their captions are not carried.
    ///   - isPassed: Whether the source's own packets pass through to a rendition, so that captions which wait must not
    ///     follow them.
    package func take(
        at tick: Int64, onAir: SourceID?, hidden: Set<SourceID>, isPassed: (SourceID) -> Bool = { _ in false }
    ) -> [CaptionPair] {
        self.state.withLock { state in
            var wanted: SourceID?
            switch state.choice {
            case .onAir: wanted = onAir
            case .source(let id): wanted = id
            }
            if let id = wanted, hidden.contains(id) { wanted = nil }
            let isChanged = wanted != state.current
            state.current = wanted
            if isChanged { state.clearing += state.memory.takeClearing() }
            var pairs: [CaptionPair] = []
            var isOver = false
            for index in state.lanes.indices {
                for item in state.lanes[index].inbox.takeAll() {
                    switch item {
                    case .frame(let pairs, let pts):
                        state.lanes[index].queue.add(pairs, pts: pts)
                        state.lanes[index].hasEnded = false
                    case .end: state.lanes[index].hasEnded = true
                    }
                }
                guard state.lanes[index].id == wanted else {
                    state.lanes[index].queue.discard(through: tick)
                    continue
                }
                if isChanged { state.lanes[index].queue.discard(through: tick - 1) }
                if state.clearing.isEmpty { pairs = state.lanes[index].queue.take(at: tick) }
                if isPassed(state.lanes[index].id) { state.lanes[index].queue.discard(through: tick) }
                if state.lanes[index].hasEnded, state.lanes[index].queue.isEmpty {
                    state.lanes[index].hasEnded = false
                    // When a file's end is read depends on the run, and offline jobs give the same bytes in every run.
                    isOver = !self.isOffline
                }
            }
            state.hasTakenClearing = !state.clearing.isEmpty
            if state.hasTakenClearing { pairs = Self.popClearing(&state.clearing) } else { state.memory.note(pairs) }
            if isOver { state.clearing += state.memory.takeClearing() }
            state.taken = pairs
            return pairs
        }
    }

    /// Takes back the captions that ``take(at:onAir:hidden:isPassed:)`` has returned last, because the frame was lost:
    /// the next frame carries them.
    ///
    /// - Returns: Whether there were any.
    package func putBack() -> Bool {
        self.state.withLock { state in
            guard !state.taken.isEmpty else { return false }
            defer { state.taken = [] }
            if state.hasTakenClearing {
                state.clearing = state.taken + state.clearing
            } else if let index = state.lanes.firstIndex(where: { $0.id == state.current }) {
                state.lanes[index].queue.putBack(state.taken)
            }
            return true
        }
    }

    /// Removes and returns what the next frame carries: at most one control code for each field, and the CEA-708 packet.
    private static func popClearing(_ clearing: inout [CaptionPair]) -> [CaptionPair] {
        var pairs: [CaptionPair] = []
        for kind in [CaptionPair.Kind.field1, .field2] {
            guard let index = clearing.firstIndex(where: { $0.kind == kind }) else { continue }
            pairs.append(clearing.remove(at: index))
        }
        pairs += clearing.filter { !$0.isLine21 }
        clearing.removeAll { !$0.isLine21 }
        return pairs
    }
}

/// The CEA-608 channels in which the program has sent captions, and whether it has sent CEA-708, so that their text can be
/// erased when the source changes.
///
/// Spec: ANSI/CTA-608 §B.8 (erase displayed memory), Table 52; ANSI/CTA-708 §5 (packets), §6.2 (service blocks), §8.10.5
/// (Reset).
struct CaptionChannels: Sendable {
    /// Bit 2 × field + channel for each CEA-608 channel in use.
    private var used: UInt8 = 0
    /// The sequence number of the last CEA-708 packet, 0 to 3; nil: none was sent.
    private var sequence: UInt8?

    /// Notes the channels that control codes of CEA-608 select, and the beginnings of CEA-708 packets.
    mutating func note(_ pairs: [CaptionPair]) {
        for pair in pairs {
            if pair.kind == .start { self.sequence = pair.first >> 6 }
            guard pair.isControl else { continue }
            let channel = pair.first >> 3 & 1
            self.used |= 1 << (pair.kind.rawValue << 1 | channel)
        }
    }

    /// A CEA-708 packet that resets services 1 to 6, which deletes their windows.
    ///
    /// - Parameter sequence: Its sequence number, 0 to 3.
    static func resetPacket(sequence: UInt8) -> [CaptionPair] {
        // A service block for each service: its number and size of one byte, and Reset. Two bytes for each unit of the size.
        let blocks = (UInt8(1)...6).flatMap { service -> [UInt8] in [service << 5 | 1, 0x8F] }
        // A block of service 0 fills the packet up to an even number of bytes.
        let header = sequence << 6 | UInt8(blocks.count / 2 + 1)
        let bytes: [UInt8] = [header] + blocks + [0]
        return stride(from: 0, to: bytes.count, by: 2).map {
            CaptionPair($0 == 0 ? .start : .continuation, bytes[$0], bytes[$0 + 1])
        }
    }

    /// Returns what erases the text, and notes no channels any more: the CEA-708 packet, if any was noted, and the control
    /// code for every noted channel of CEA-608, each twice as CEA-608 requires.
    mutating func takeClearing() -> [CaptionPair] {
        var codes = self.sequence.map { Self.resetPacket(sequence: ($0 + 1) & 3) } ?? []
        self.sequence = nil
        for field in UInt8(0)...1 {
            for channel in UInt8(0)...1 where self.used & 1 << (field << 1 | channel) != 0 {
                // In field 2, miscellaneous control codes begin with 0x15 or 0x1D.
                let first = Self.withParity(0x14 | channel << 3 | field)
                let pair = CaptionPair(field == 0 ? .field1 : .field2, first, Self.withParity(0x2C))
                codes += [pair, pair]
            }
        }
        self.used = 0
        return codes
    }

    /// Sets the highest bit so that the number of set bits is odd.
    private static func withParity(_ byte: UInt8) -> UInt8 {
        byte.nonzeroBitCount.isMultiple(of: 2) ? byte | 0x80 : byte & 0x7F
    }
}
