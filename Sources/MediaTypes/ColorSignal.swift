/// Color description of a video, in the code points of ITU-T H.273 (2 is "unspecified" in each).
public struct ColorSignal: Sendable, Hashable {
    /// Color primaries: ColourPrimaries of H.273.
    public var primaries: UInt8
    /// Transfer curve: TransferCharacteristics of H.273.
    public var transfer: UInt8
    /// Color matrix: MatrixCoefficients of H.273.
    public var matrix: UInt8

    public init(primaries: UInt8 = 2, transfer: UInt8 = 2, matrix: UInt8 = 2) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
    }
}
