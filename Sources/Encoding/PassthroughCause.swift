/// Why a rendition is encoded and not passed through; the values appear in events and in the state.
package enum PassthroughCause: String, Sendable, CaseIterable {
    /// Passthrough is not configured.
    case off
    /// The canvas is not filled by exactly one source, or something is drawn over it.
    case scene
    /// There is no publisher, or it sends no video.
    case lost
    /// The source's codec is not H.264, or its configuration record is not usable.
    case codec
    /// The source's frame size differs from the rendition's, or the video is rotated.
    case size
    /// The video is not 8-bit 4:2:0, or it is interlaced.
    case format
    /// The profile or the level is higher than the rendition declares, or the profile is none of baseline, main and
    /// high.
    case profile, level
    /// The source's frame rate differs from the canvas's by more than 2 %.
    case frameRate
    /// IDR frames are further apart than a segment (for WebRTC viewers also further than 2.2 s), or none arrived for
    /// the beginning of a segment.
    case keyInterval
    /// The source sends B-frames, which WebRTC viewers of the rendition cannot show.
    case bFrames
    /// The source's peak or average bit rate is higher than the rendition declares.
    case bitrate
    /// Frames of the source are missing.
    case gap
    /// Timestamps jump, or two frames share a tick.
    case timestamps
    /// A key frame of the source arrived after its tick.
    case late
    /// Not enough of the source's stream has been received to decide whether it may pass.
    case settling
}
