package import MediaTypes

/// Stereo downmix coefficients for channel layouts that libswresample cannot downmix itself: channels in a custom
/// order, or without front channels.
///
/// The coefficients are the same as libswresample's: −3 dB for the front center and for side and back channels, −6 dB
/// for other center channels, and nothing for low frequencies.
package enum DownMix {
    private static let half = 0.5.squareRoot()

    /// Returns two rows, left and right, with one coefficient per channel.
    package static func stereo(_ layout: ChannelLayout) -> [Double] {
        let speakers = layout.speakers
        // Without known positions, the first two channels are a stereo pair, and a single channel goes to both sides.
        if layout.isUnspecified {
            let left = speakers.indices.map { $0 == 0 ? 1.0 : 0 }
            return left + (speakers.count == 1 ? left : speakers.indices.map { $0 == 1 ? 1.0 : 0 })
        }
        return speakers.map { self.shares($0).left } + speakers.map { self.shares($0).right }
    }

    private static func shares(_ speaker: ChannelLayout.Speaker?) -> (left: Double, right: Double) {
        switch speaker {
        case .frontLeft, .frontLeftCenter: (1, 0)
        case .frontRight, .frontRightCenter: (0, 1)
        case .frontCenter: (self.half, self.half)
        case .backLeft, .sideLeft, .topFrontLeft, .topBackLeft, .topSideLeft, .bottomFrontLeft: (self.half, 0)
        case .backRight, .sideRight, .topFrontRight, .topBackRight, .topSideRight, .bottomFrontRight: (0, self.half)
        case .backCenter, .topCenter, .topFrontCenter, .topBackCenter, .bottomFrontCenter: (0.5, 0.5)
        case .lowFrequency, .lowFrequency2, nil: (0, 0)
        }
    }
}

extension ChannelLayout {
    /// Creates the layout of an `AV_CH_…` mask, in the order of its bits; unknown bits become unspecified speakers.
    ///
    /// - Returns: `nil` for 0 and for too many channels.
    init?(mask: UInt64) {
        // The first eighteen bits have the same numbers here; libavutil has others between them and the rest.
        let later: [Int: Speaker] = [
            35: .lowFrequency2, 36: .topSideLeft, 37: .topSideRight, 38: .bottomFrontCenter, 39: .bottomFrontLeft,
            40: .bottomFrontRight,
        ]
        self.init(
            (0..<64).filter { mask >> UInt64($0) & 1 == 1 }.map { bit in
                bit < 18 ? Speaker(rawValue: UInt8(bit)) : later[bit]
            })
    }
}
