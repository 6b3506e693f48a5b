import LibAV
import Testing

@Suite("Pictures whose objects are used again")
struct PicturePoolTests {
    private static func luma(_ picture: Picture) -> UInt8? { picture.withPlane(0) { samples, _ in samples[0] } }

    @Test("a graph's pictures stay as they were while somebody has them; their objects come again afterwards")
    func graph() throws {
        let graph = try FilterGraph.open(
            "[in]scale=16:16[large];[large]split=2[out][rest];[rest]scale=8:8[small]",
            inputs: [FilterGraph.Input(label: "in", format: .canvas(width: 32, height: 32))],
            outputs: ["out", "small"], fps: 30, place: "test")
        var kept: [(value: UInt8, pictures: [Picture])] = []
        var objects: Set<ObjectIdentifier> = []
        for number in 0..<200 {
            let value = UInt8(20 + number)
            let input = try PictureCanvas.open(
                width: 32, height: 32, fill: CanvasColor(y: value, cb: 128, cr: 128)
            ).finish()
            let pictures = try graph.run([input], pts: Int64(number))
            #expect(pictures.map(\.format.width) == [16, 8])
            for picture in pictures { objects.insert(ObjectIdentifier(picture)) }
            kept.append((value, pictures))
            if kept.count > 5 { kept.removeFirst() }
            for (value, pictures) in kept { #expect(pictures.allSatisfy { Self.luma($0) == value }) }
        }
        #expect(objects.count <= 16, "\(objects.count) objects for twelve at a time")
    }
}
