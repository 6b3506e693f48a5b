/// Orientation of a video: flipped horizontally, then rotated clockwise.
public struct VideoOrientation: Sendable, Hashable {
    /// Quarter turns clockwise, 0…3.
    public var quarterTurns: Int
    /// Whether the video is flipped horizontally before the rotation.
    public var isMirrored: Bool

    public static let upright = VideoOrientation()

    /// Creates an orientation.
    ///
    /// - Parameter quarterTurns: Any number; full turns are removed.
    public init(quarterTurns: Int = 0, isMirrored: Bool = false) {
        self.quarterTurns = quarterTurns & 3
        self.isMirrored = isMirrored
    }

    /// Reads a display matrix; a skewed or scaled matrix gives the nearest quarter turn.
    ///
    /// Spec: ISO/IEC 14496-12 §8.3.2.3 (`matrix`): a point (p, q), q downwards, is mapped to (a·p + c·q, b·p + d·q).
    ///
    /// - Parameter matrix: Nine numbers `a b u c d v x y w`; anything else gives upright.
    public init(displayMatrix matrix: [Int32]) {
        guard matrix.count == 9 else {
            self.init()
            return
        }
        var (a, b) = (Int64(matrix[0]), Int64(matrix[1]))
        let isMirrored = a * Int64(matrix[4]) < b * Int64(matrix[3])
        if isMirrored { (a, b) = (-a, -b) }
        let turns = abs(a) >= abs(b) ? (a >= 0 ? 0 : 2) : (b > 0 ? 1 : 3)
        self.init(quarterTurns: turns, isMirrored: isMirrored)
    }

    /// Returns the orientation after a further clockwise rotation.
    public func turned(by quarterTurns: Int) -> VideoOrientation {
        VideoOrientation(quarterTurns: self.quarterTurns &+ quarterTurns, isMirrored: self.isMirrored)
    }
}
