/// What a source sends, on program time: the coded side of what its decoder gets.
package enum ProgramItem: Sendable {
    case configuration(CodecParameters)
    /// A coded picture and the time it is shown, in nanoseconds of program time.
    case picture(CodedPacket, pts: Int64)
    /// The publication is over.
    case end
}
