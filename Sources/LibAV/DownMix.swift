package import MediaTypes

/// What each channel of a sound gives to the left and to the right one, where libswresample cannot tell by itself: channels in an
/// order of their own, or with nothing in front.
///
/// The shares are its own: 3 dB less for what stands in the middle, at the side or behind, and nothing for low frequencies.
package enum DownMix {
    private static let half = 0.5.squareRoot()

    /// Two rows, left and right, of one share a channel.
    package static func stereo(_ layout: SoundLayout) -> [Double] {
        let speakers = layout.speakers
        // Without a word the first two are a pair, and one alone is for both ears.
        if layout.isUnspecified {
            let left = speakers.indices.map { $0 == 0 ? 1.0 : 0 }
            return left + (speakers.count == 1 ? left : speakers.indices.map { $0 == 1 ? 1.0 : 0 })
        }
        return speakers.map { self.shares($0).left } + speakers.map { self.shares($0).right }
    }

    private static func shares(_ speaker: SoundLayout.Speaker?) -> (left: Double, right: Double) {
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

extension SoundLayout {
    /// The loudspeakers of an `AV_CH_…` mask, in its order; what is none of ours says nothing.
    ///
    /// - Returns: nil for 0 and for too many channels.
    init?(mask: UInt64) {
        // The first eighteen have the same numbers; libavutil put others between them and the rest.
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
