package import HLS
package import MediaTypes

/// Adds metadata of frames (events and layouts) to the packets for RTMP outputs and FLV viewers as SEI messages, as the
/// HLS output does.
extension LiveFeeds {
    /// Starts to put the data that the pipeline's `sei` configures into frames; see ``HLSPackager/carry(_:)``.
    package func carry(_ plan: UserDataPlan) { self.change { $0.plan = plan } }

    /// Puts an event into the frame that it names; see ``HLSPackager/cue(_:)``.
    package func cue(_ cue: FrameMetadata) { self.change { $0.add(cue, hasMessages: false) } }

    /// Describes another layout from a frame on; see ``HLSPackager/show(_:from:isScheduled:)``.
    package func show(_ layout: [JSONValue.Member], from frame: Int64, isScheduled: Bool) {
        self.change { $0.plan?.show(layout, from: frame, isScheduled: isScheduled) }
    }

    /// Adds closed captions to a program frame that has not been encoded yet; see ``HLSPackager/caption(_:at:)``.
    package func caption(_ pairs: [CaptionPair], at frame: Int64) { self.change { $0.add(captions: pairs, at: frame) } }

    /// Removes the closed captions of a frame that was lost.
    package func removeCaptions(at frame: Int64) { self.change { $0.removeCaptions(at: frame) } }

    /// Sets whether the following packets of a track are a publisher's own, which keep their captions. Called on the
    /// thread of the track's encoder.
    func setPassed(_ isPassed: Bool, track: Int) {
        guard self.steps.indices.contains(track) else { return }
        self.cues.withLock { $0[track].setPassed(isPassed) }
    }

    /// Adds the metadata of the packet's frame to the packet. Called on the thread of the track's encoder.
    func carrying(_ packet: CodedPacket, track: Int) -> CodedPacket {
        guard self.steps.indices.contains(track) else { return packet }
        return self.cues.withLock { $0[track].carrying(packet, fps: self.fps, step: self.steps[track]) }
    }

    /// If a packet that no output needs is a key frame, removes the metadata of its frame and of earlier frames, so that it
    /// does not accumulate.
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
