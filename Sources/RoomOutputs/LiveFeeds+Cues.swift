package import HLS
package import MediaTypes

/// What happens with single pictures goes to CDNs and FLV viewers in the pictures themselves, as it does in HLS.
extension LiveFeeds {
    /// See ``HLSPackager/carry(_:)``.
    package func carry(_ plan: UserDataPlan) { self.change { $0.plan = plan } }

    /// See ``HLSPackager/cue(_:)``.
    package func cue(_ cue: FrameMetadata) { self.change { $0.add(cue, hasMessages: false) } }

    /// See ``HLSPackager/show(_:from:isScheduled:)``.
    package func show(_ layout: [JSONValue.Member], from frame: Int64, isScheduled: Bool) {
        self.change { $0.plan?.show(layout, from: frame, isScheduled: isScheduled) }
    }

    /// On the track's encoder's thread.
    func carrying(_ packet: CodedPacket, track: Int) -> CodedPacket {
        guard self.steps.indices.contains(track) else { return packet }
        return self.cues.withLock { $0[track].carrying(packet, fps: self.fps, step: self.steps[track]) }
    }

    /// The same for a picture that nobody wants.
    func pass(_ packet: CodedPacket, track: Int) {
        guard packet.isKey, self.steps.indices.contains(track) else { return }
        self.cues.withLock { $0[track].passing(packet, fps: self.fps, step: self.steps[track]) }
    }

    private func change(_ body: (inout PendingFrameMetadata) -> Void) {
        self.cues.withLock { cues in
            for track in cues.indices { body(&cues[track]) }
        }
    }
}
