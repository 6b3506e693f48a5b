import MediaTypes

extension ValueRule where Value == Int {
    /// A rule for the clockwise rotation of video in degrees.
    static var rotation: ValueRule {
        self.one(of: [0, 90, 180, 270], otherwise: "is not a multiple of a quarter turn")
    }
}
