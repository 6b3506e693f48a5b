/// Replaces each sample of an 8-bit plane by its value in a table.
public struct LevelMap: Sendable {
    /// 256 values.
    private let levels: [UInt8]

    /// - Parameter level: Returns the new value of a sample.
    public init(_ level: (UInt8) -> UInt8) { self.levels = (0...255).map { level(UInt8($0)) } }

    /// Luma of limited range as full range: 16 becomes 0, 235 becomes 255, and values beyond them as well.
    public static let fullRange = LevelMap { UInt8(clamping: ((Int($0) - 16) * 510 + 219) / 438) }

    /// Maps a plane. Does nothing if the input is too short for the size of the output. Does not allocate.
    ///
    /// - Parameter output: Receives the samples; must not overlap the input.
    public func map(_ input: FrameBlend.Plane, into output: PackedFrame.Target) {
        guard output.isWhole,
            unsafe FrameBlend.rows(input.samples.count, input.stride, output.width) >= output.height,
            let from = unsafe input.samples.baseAddress, let to = unsafe output.samples.baseAddress
        else { return }
        unsafe self.levels.withUnsafeBufferPointer { levels in
            guard let table = levels.baseAddress else { return }
            for row in 0..<output.height {
                // `height` rows of `width` samples lie inside both buffers, and 256 values in the table.
                let source = unsafe from + row &* input.stride
                let target = unsafe to + row &* output.stride
                for column in 0..<output.width { unsafe target[column] = table[Int(source[column])] }
            }
        }
    }
}
