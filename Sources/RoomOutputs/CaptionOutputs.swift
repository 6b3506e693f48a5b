package import MediaTypes
package import Packager
package import PipelineSpec
package import Program

/// Passes the closed captions of the program to the outputs that carry them: HLS, recordings, RTMP outputs and HTTP-FLV.
/// Used on the program thread.
package struct CaptionOutputs: Sendable {
    private let captions: CaptionSwitch
    private let packager: HLSPackager?
    private let live: LiveFeeds?
    private let passthrough: PassthroughSwitch?

    /// - Parameters:
    ///   - packager: Packages the HLS output; nil if the room has none.
    ///   - live: RTMP outputs and HTTP-FLV; nil for an offline job.
    ///   - passthrough: Passes a publisher's packets through; nil if no rendition uses it.
    package init(
        _ captions: CaptionSwitch, _ packager: HLSPackager?, _ live: LiveFeeds?, _ passthrough: PassthroughSwitch?
    ) {
        (self.captions, self.packager, self.live, self.passthrough) = (captions, packager, live, passthrough)
    }

    /// Adds the captions of a tick to the tick's frame; call it before the frame is passed to the encoders.
    ///
    /// - Parameters: See ``CaptionSwitch/take(at:onAir:hidden:isPassed:)``.
    package func carry(at tick: Int64, onAir: SourceID?, hidden: Set<SourceID>) {
        let pairs = self.captions.take(at: tick, onAir: onAir, hidden: hidden) { source in
            self.passthrough?.isPassing(source) ?? false
        }
        guard !pairs.isEmpty else { return }
        self.packager?.caption(pairs, at: tick)
        self.live?.caption(pairs, at: tick)
    }

    /// Moves the captions of a frame that was lost to the next frame.
    package func lost(_ tick: Int64) {
        guard self.captions.putBack() else { return }
        self.packager?.removeCaptions(at: tick)
        self.live?.removeCaptions(at: tick)
    }
}

extension Pipeline.Captions {
    /// The source whose captions the program carries.
    package var choice: CaptionSwitch.Choice { self.source.map { .source($0) } ?? .onAir }
}
