/// Why a rendition is encoded although it might have a publisher's own packets: the words of events and of the state.
package enum PassthroughCause: String, Sendable, CaseIterable {
    /// It was never asked for.
    case off
    /// More or less than one source fills the canvas, or something lies over it.
    case scene
    /// No publisher, or one without pictures.
    case lost
    /// Not H.264.
    case codec
    /// Another size than the rendition's, or turned.
    case size
    /// Not 8-bit 4:2:0, or with fields.
    case format
    /// A profile or a level beyond those the rendition declares.
    case profile, level
    /// Not the canvas's rate.
    case frameRate
    /// Key pictures further apart than a segment, or none that begins a closed GOP.
    case keyInterval
    /// More than the rendition declares, at the peak or on average.
    case bitrate
    /// Pictures are missing.
    case gap
    /// Times that jump, or that two pictures share.
    case timestamps
    /// A key picture came after its time.
    case late
    /// Not enough of the stream has been seen.
    case settling
}
