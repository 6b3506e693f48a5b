/// The loudspeaker of each channel of coded audio, in the stream's order, according to the container.
///
/// Spec: Enhanced RTMP v2, `AudioPacketType.MultichannelConfig`; the numbers are those of its `AudioChannel`.
public struct ChannelLayout: Sendable, Hashable {
    /// Position of a loudspeaker.
    public enum Speaker: UInt8, Sendable, Hashable, CaseIterable {
        case frontLeft, frontRight, frontCenter, lowFrequency, backLeft, backRight, frontLeftCenter, frontRightCenter
        case backCenter, sideLeft, sideRight, topCenter, topFrontLeft, topFrontCenter, topFrontRight, topBackLeft
        case topBackCenter, topBackRight, lowFrequency2, topSideLeft, topSideRight, bottomFrontCenter, bottomFrontLeft
        case bottomFrontRight
    }

    /// Maximum number of channels.
    public static let maximumChannels = 8

    /// Loudspeaker of each channel; `nil`: unspecified or unused.
    public let speakers: [Speaker?]

    /// Creates the layout of a stream whose channels belong to these loudspeakers.
    ///
    /// - Returns: `nil` for no channel, or more than ``maximumChannels``.
    public init?(_ speakers: [Speaker?]) {
        guard (1...Self.maximumChannels).contains(speakers.count) else { return nil }
        self.speakers = speakers
    }

    /// Whether no channel has a specified loudspeaker.
    public var isUnspecified: Bool { self.speakers.allSatisfy { $0 == nil } }
}
