package import LibAV
package import MediaTypes

/// An encoder of one rendition: ``VideoEncoder``, or what a test has in its place. On one thread.
package protocol FrameEncoder: AnyObject {
    /// In Annex B form, known before the first frame.
    var parameterSets: [UInt8] { get }

    /// As ``VideoEncoder/encode(_:pts:forceIDR:forceP:_:)``.
    func encode(
        _ picture: Picture, pts: Int64, forceIDR: Bool, forceP: Bool, _ body: (CodedPacket) -> Void
    ) throws(MediaError)

    /// As ``VideoEncoder/finish(_:)``.
    func finish(_ body: (CodedPacket) -> Void) throws(MediaError)
}

/// An encoder of the audio: ``AudioEncoder``, or what a test has in its place. On one thread.
package protocol BlockEncoder: AnyObject {
    /// `AudioSpecificConfig` (ISO/IEC 14496-3 §1.6.2.1), known before the first sample.
    var configuration: [UInt8] { get }

    /// As ``AudioEncoder/encode(_:pts:_:)``.
    func encode(_ samples: ArraySlice<Float>, pts: Int64, _ body: (CodedPacket) -> Void) throws(MediaError)

    /// As ``AudioEncoder/finish(_:)``.
    func finish(_ body: (CodedPacket) -> Void) throws(MediaError)
}

extension VideoEncoder: FrameEncoder {}
extension AudioEncoder: BlockEncoder {}

/// How the ladder opens its encoders. Each is opened, used and released on one thread.
package struct LadderEncoders: Sendable {
    /// As ``VideoEncoder/open(_:place:)``.
    package var video:
        @Sendable (_ settings: VideoEncoderSettings, _ place: String) throws(MediaError) -> any FrameEncoder
    /// As ``AudioEncoder/open(sampleRate:bitrate:place:)``.
    package var audio:
        @Sendable (_ sampleRate: Int, _ bitrate: Int, _ place: String) throws(MediaError) -> any BlockEncoder

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

    /// libavcodec's.
    package static let libav = LadderEncoders(
        video: { settings, place throws(MediaError) in try VideoEncoder.open(settings, place: place) },
        audio: { sampleRate, bitrate, place throws(MediaError) in
            try AudioEncoder.open(sampleRate: sampleRate, bitrate: bitrate, place: place)
        })
}
