package import MediaTypes
import Synchronization

/// One rendition of the ladder for WebRTC viewers: H.264 frames and Opus packets, for any number of viewers.
///
/// The encoders' threads only append packets to a list; RTP packets are made on the event loop of the viewers. The encoders
/// wake it at most once for all packets that it has not taken yet.
///
/// The frames since the latest key frame are kept, so that a viewer begins without waiting for the next one.
package final class WHEPFeed: Sendable {
    /// What the event loop takes over.
    enum Item: Sendable {
        case configuration(CodecParameters)
        case packet(CodedPacket)
        case end
    }

    private struct State {
        /// Items that the event loop has not taken yet.
        var items: [Item] = []
        var isWoken = false
        var isAwake = false
        var isOver = false
        var wake: (@Sendable () -> Void)?
        var configuration: CodecParameters?
        /// The frames since the latest key frame.
        var group: [CodedPacket] = []
        var groupBytes = 0
        /// Whether there was a key frame, so that viewers can begin.
        var isLive = false
    }

    /// Items that wait for the event loop at most: far more than normal. Further ones are dropped while the loop is stuck.
    private static let mostWaiting = 8_192
    /// A group of frames beyond these limits is not kept: 16 MiB, and ten seconds at 120 frames per second.
    private static let mostBytes = 16 << 20
    private static let mostFrames = 1_200

    /// Name of the rendition.
    package let name: String
    package let hasVideo: Bool
    package let hasAudio: Bool
    private let setDemand: @Sendable (Bool) -> Void
    private let state = Mutex(State())
    private let awake = Atomic<Bool>(false)

    /// - Parameter setDemand: Called with true at the offer of a first viewer, and with false 30 s after the last one has left,
    ///   or at the end. Audio needs to be encoded only in between. Called on the event loop of the viewers; must not block.
    package init(
        name: String, hasVideo: Bool, hasAudio: Bool, setDemand: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        self.name = name
        self.hasVideo = hasVideo
        self.hasAudio = hasAudio
        self.setDemand = setDemand
    }

    // MARK: Calls from the encoders

    /// Whether somebody watches, joins, or did so less than 30 s ago. While false, audio is dropped.
    package var isAwake: Bool { self.awake.load(ordering: .relaxed) }

    /// Sets the configuration of the video from the next frame on, which must be a key frame: H.264 with its
    /// `AVCDecoderConfigurationRecord` or in Annex B form. The size is not needed; players read it from the stream.
    package func configure(_ parameters: CodecParameters, width: Int = 0, height: Int = 0) {
        guard parameters.kind == .video else { return }
        self.put { state in
            state.configuration = parameters
            (state.group, state.groupBytes) = ([], 0)
            return .configuration(parameters)
        }
    }

    /// Takes the next frame of the video, as NAL units with lengths of four bytes or in Annex B form. All calls must come from
    /// one thread.
    package func receive(_ packet: CodedPacket) {
        guard packet.kind == .video, self.hasVideo else { return }
        self.put { state in
            Self.keep(packet, in: &state)
            return .packet(packet)
        }
    }

    /// Takes the next Opus packet, of 20 ms, with a presentation time on the time line of the video. All calls must come from
    /// one thread.
    package func receiveAudio(_ packet: CodedPacket) {
        guard packet.kind == .audio, self.hasAudio, self.isAwake else { return }
        self.put { state in
            state.isLive = state.isLive || !self.hasVideo
            return .packet(packet)
        }
    }

    /// Ends the feed after the last packet: its viewers are disconnected.
    package func end() {
        self.put { state in
            state.isOver = true
            (state.group, state.groupBytes) = ([], 0)
            return .end
        }
    }

    private func put(_ make: (inout State) -> Item) {
        let wake = self.state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isOver else { return nil }
            let item = make(&state)
            guard state.isAwake || state.isOver else { return nil }
            guard state.items.count < Self.mostWaiting || state.isOver else { return nil }
            state.items.append(item)
            defer { state.isWoken = true }
            return state.isWoken ? nil : state.wake
        }
        wake?()
    }

    private static func keep(_ packet: CodedPacket, in state: inout State) {
        if packet.isKey {
            (state.group, state.groupBytes) = ([packet], packet.count)
            state.isLive = true
        } else if !state.group.isEmpty {
            state.group.append(packet)
            state.groupBytes += packet.count
            if state.groupBytes > Self.mostBytes || state.group.count > Self.mostFrames {
                (state.group, state.groupBytes) = ([], 0)
            }
        }
    }

    // MARK: Calls from the server

    /// Whether viewers can begin now: there was a key frame, and the feed has not ended. A feed without video is live from
    /// the start.
    var isLive: Bool { self.state.withLock { !$0.isOver && ($0.isLive || !self.hasVideo) } }

    var isOver: Bool { self.state.withLock { $0.isOver } }

    /// Sets what is called when there are items; nil: nothing any more. It is called on the encoders' threads.
    func attach(_ wake: (@Sendable () -> Void)?) { self.state.withLock { $0.wake = wake } }

    /// Declares whether packets are needed.
    ///
    /// - Returns: False if nothing changed.
    @discardableResult
    func demand(_ isNeeded: Bool) -> Bool {
        let isNew = self.state.withLock { state in
            guard state.isAwake != isNeeded else { return false }
            state.isAwake = isNeeded
            self.awake.store(isNeeded, ordering: .relaxed)
            state.items = []
            if isNeeded {
                if let configuration = state.configuration { state.items.append(.configuration(configuration)) }
                state.items += state.group.map { .packet($0) }
            }
            return true
        }
        if isNew { self.setDemand(isNeeded) }
        return isNew
    }

    /// Removes and returns the items that wait for the event loop.
    func take() -> [Item] {
        self.state.withLock { state in
            defer { (state.items, state.isWoken) = ([], false) }
            return state.items
        }
    }
}
