package import MediaTypes

/// Drops the packets of a WebRTC publisher while a subscriber is full, and video frames from then on until the next key
/// frame. UDP cannot be stopped as TCP can.
///
/// It also keeps the configurations, which a publication that continues after silence needs again.
package struct WebRTCFrameGate {
    /// Frames and audio packets that were dropped.
    package private(set) var dropped: UInt64 = 0
    /// While true, all packets are dropped.
    package var isPaused = false {
        didSet { if self.isPaused { self.needsKeyFrame = true } }
    }
    /// Whether video frames are dropped until the next key frame.
    package private(set) var needsKeyFrame = false
    private var configurations: [CodecParameters] = []

    package init() {}

    /// Begins the next publication: it gets the configurations known so far, and video from a key frame on.
    ///
    /// - Returns: The items to deliver first.
    package mutating func begin() -> [SourceItem] {
        self.needsKeyFrame = true
        return self.configurations.map { .configuration($0) }
    }

    /// Removes the packets that must not be delivered; configurations stay.
    package mutating func filter(_ items: inout [SourceItem]) {
        for case .configuration(let parameters) in items { self.keep(parameters) }
        guard self.isPaused || self.needsKeyFrame else { return }
        var kept: [SourceItem] = []
        for item in items {
            guard case .packet(let packet) = item else {
                kept.append(item)
                continue
            }
            if !self.isPaused, packet.kind == .video, packet.isKey { self.needsKeyFrame = false }
            if self.isPaused || packet.kind == .video && self.needsKeyFrame {
                self.dropped += 1
            } else {
                kept.append(item)
            }
        }
        items = kept
    }

    private mutating func keep(_ parameters: CodecParameters) {
        self.configurations.removeAll { $0.kind == parameters.kind && $0.track == parameters.track }
        self.configurations.append(parameters)
    }
}
