/// Which loudspeaker each channel of a coded sound is for, in the stream's order, as the container says it.
///
/// Spec: Enhanced RTMP v2, `AudioPacketType.MultichannelConfig`; the numbers are those of its `AudioChannel`.
public struct SoundLayout: Sendable, Hashable {
    /// Where a loudspeaker stands.
    public enum Speaker: UInt8, Sendable, Hashable, CaseIterable {
        case frontLeft, frontRight, frontCenter, lowFrequency, backLeft, backRight, frontLeftCenter, frontRightCenter
        case backCenter, sideLeft, sideRight, topCenter, topFrontLeft, topFrontCenter, topFrontRight, topBackLeft
        case topBackCenter, topBackRight, lowFrequency2, topSideLeft, topSideRight, bottomFrontCenter, bottomFrontLeft
        case bottomFrontRight
    }

    /// Channels that a sound may have here.
    public static let maximumChannels = 8

    /// One a channel; nil: not said, or not used.
    public let speakers: [Speaker?]

    /// - Returns: nil for no channel, or more than ``maximumChannels``.
    public init?(_ speakers: [Speaker?]) {
        guard (1...Self.maximumChannels).contains(speakers.count) else { return nil }
        self.speakers = speakers
    }

    /// Nobody says where any of the channels belongs.
    public var isUnspecified: Bool { self.speakers.allSatisfy { $0 == nil } }
}
