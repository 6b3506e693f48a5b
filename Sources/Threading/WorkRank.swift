/// The ranks of an offline job's stages in its ``WorkLimiter``: later stages go first, and of the encoders those of larger
/// renditions.
///
/// So the encoder of the largest rendition, usually the heaviest stage, never waits for a stage that is ahead of it. A
/// later stage leaves its turn to earlier ones when its queue is empty.
package enum WorkRank {
    /// The rank of the encoder of a rendition.
    ///
    /// - Parameter pixels: Number of pixels per second.
    package static func encoding(pixels: Int) -> Int { max(0, pixels) }
    package static let scaling = -1
    package static let decoding = -2
}
