import MediaTypes

extension ValueRule where Value == Int {
    /// The rotation of a picture in degrees, clockwise.
    static var rotation: ValueRule {
        self.one(of: [0, 90, 180, 270], otherwise: "is not a multiple of a quarter turn")
    }
}
