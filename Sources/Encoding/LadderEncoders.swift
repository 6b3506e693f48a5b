package import Dispatch
package import LibAV
package import MediaTypes

/// An encoder of one rendition: ``VideoEncoder``, an encoder that wraps one (``DeadlineEncoder``, ``StandbyEncoder``), or a
/// replacement in tests. Used on one thread.
package protocol FrameEncoder: AnyObject {
    /// SPS and PPS in Annex B form, known before the first frame.
    var parameterSets: [UInt8] { get }

    /// Encodes one frame, as ``VideoEncoder/encode(_:pts:forceIDR:forceP:_:)`` does.
    func encode(
        _ picture: Picture, pts: Int64, forceIDR: Bool, forceP: Bool, _ body: (CodedPacket) -> Void
    ) throws(MediaError)

    /// Outputs the remaining packets, as ``VideoEncoder/finish(_:)`` does.
    func finish(_ body: (CodedPacket) -> Void) throws(MediaError)
}

/// An audio encoder: ``AudioEncoder``, or a replacement in tests. Used on one thread.
package protocol BlockEncoder: AnyObject {
    /// `AudioSpecificConfig` (ISO/IEC 14496-3 §1.6.2.1), known before the first sample.
    var configuration: [UInt8] { get }

    /// Encodes one block of samples, as ``AudioEncoder/encode(_:pts:_:)`` does.
    func encode(_ samples: ArraySlice<Float>, pts: Int64, _ body: (CodedPacket) -> Void) throws(MediaError)

    /// Outputs the remaining packets, as ``AudioEncoder/finish(_:)`` does.
    func finish(_ body: (CodedPacket) -> Void) throws(MediaError)
}

extension VideoEncoder: FrameEncoder {}
extension AudioEncoder: BlockEncoder {}

/// Functions with which the ladder opens its encoders. Each encoder is opened, used and released on one thread.
package struct LadderEncoders: Sendable {
    /// Opens a video encoder, as ``VideoEncoder/open(_:place:)`` does.
    package var video:
        @Sendable (_ settings: VideoEncoderSettings, _ place: String) throws(MediaError) -> any FrameEncoder
    /// Opens an audio encoder, as ``AudioEncoder/open(sampleRate:bitrate:place:)`` does.
    package var audio:
        @Sendable (_ sampleRate: Int, _ bitrate: Int, _ place: String) throws(MediaError) -> any BlockEncoder

    /// Waits for a semaphore, for at most a number of milliseconds, and returns whether it was signaled. Limits the
    /// time of a hardware encoder's calls.
    package var wait: @Sendable (_ semaphore: DispatchSemaphore, _ milliseconds: Int) -> Bool = {
        $0.wait(timeout: .now() + .milliseconds($1)) == .success
    }

    package init(
        video:
            @escaping @Sendable (_ settings: VideoEncoderSettings, _ place: String) throws(MediaError) ->
            any FrameEncoder,
        audio:
            @escaping @Sendable (_ sampleRate: Int, _ bitrate: Int, _ place: String) throws(MediaError) ->
            any BlockEncoder
    ) {
        self.video = video
        self.audio = audio
    }

    /// The encoders of libavcodec.
    package static let libav = LadderEncoders(
        video: { settings, place throws(MediaError) in try VideoEncoder.open(settings, place: place) },
        audio: { sampleRate, bitrate, place throws(MediaError) in
            try AudioEncoder.open(sampleRate: sampleRate, bitrate: bitrate, place: place)
        })
}
