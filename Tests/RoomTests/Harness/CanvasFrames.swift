import Testing

/// The frames a room has composed, as its raw output wrote them; see ``HarnessRooms/raw(_:)``.
struct CanvasFrames {
    /// What the two halves of a frame show, told apart by their backgrounds.
    enum View: String {
        /// One source with a dark background fills the frame.
        case dark
        /// One source with a light background fills it.
        case light
        case darkLeftLightRight, lightLeftDarkRight
        case other
    }

    private static let (width, height) = (160, 90)
    private static let head = Array("FRAME\n".utf8)
    private static let length = Self.width * Self.height * 3 / 2

    private let bytes: [UInt8]
    private let start: Int
    /// Tick of the first frame.
    private let firstTick: Int64

    /// - Parameter firstTick: From the event `program.started`.
    init(_ directory: RoomDirectory, firstTick: Int64 = 0) throws {
        self.bytes = try directory.bytes(of: "canvas.y4m")
        self.start = try #require(self.bytes.firstIndex(of: UInt8(ascii: "\n"))) + 1
        self.firstTick = firstTick
    }

    var count: Int { (self.bytes.count - self.start) / (Self.head.count + Self.length) }

    /// The ticks that have a frame.
    var ticks: Range<Int64> { self.firstTick..<self.firstTick + Int64(self.count) }

    /// Luma of a pixel.
    func luma(_ tick: Int64, _ x: Int, _ y: Int) -> UInt8 {
        let frame = self.start + Int(tick - self.firstTick) * (Self.head.count + Self.length)
        return self.bytes[frame + Self.head.count + y * Self.width + x]
    }

    /// What a frame shows. It samples pixels below the moving square and below what the PK scene draws over its panes.
    func view(_ tick: Int64) -> View {
        guard self.ticks.contains(tick) else { return .other }
        func isLight(_ x: Int) -> Bool? {
            switch self.luma(tick, x, 75) {
            case 0...40: false
            case 110...146: true
            default: nil
            }
        }
        return switch (isLight(20), isLight(140)) {
        case (false?, false?): .dark
        case (true?, true?): .light
        case (false?, true?): .darkLeftLightRight
        case (true?, false?): .lightLeftDarkRight
        case (nil, _), (_, nil): .other
        }
    }

    /// What each frame of `ticks` shows.
    func views(_ ticks: Range<Int64>) -> [View] { ticks.map { self.view($0) } }

    /// Which of its ten frames a source shows, by the position of the white square.
    ///
    /// - Parameter inLeftHalf: True if the middle of the source fills the left half, as in side by side; false if it
    ///   fills the frame.
    func step(_ tick: Int64, inLeftHalf: Bool) -> Set<Int> {
        let (width, shift) = inLeftHalf ? (80, 40) : (160, 0)
        return Set(
            (0..<Int(ScriptedClip.fps)).filter { step in
                let square = step * 12 - shift..<step * 12 - shift + 32
                return (0..<width).allSatisfy { x in
                    // Edges are blurred by scaling.
                    if [square.lowerBound, square.upperBound].contains(where: { abs($0 - x) <= 4 }) { return true }
                    return square.contains(x) == (self.luma(tick, x, 30) > 190)
                }
            })
    }

    /// Returns true if the source that fills the frame before `tick` continues in the left half at `tick`, or the other
    /// way round, with at most one of its frames skipped or repeated.
    func goesOn(at tick: Int64, intoLeftHalf: Bool) -> Bool {
        guard self.ticks.contains(tick - 1), self.ticks.contains(tick) else { return false }
        let (before, after) = (
            self.step(tick - 1, inLeftHalf: !intoLeftHalf), self.step(tick, inLeftHalf: intoLeftHalf)
        )
        return before.contains { step in (0...2).contains { after.contains((step + $0) % Int(ScriptedClip.fps)) } }
    }
}
