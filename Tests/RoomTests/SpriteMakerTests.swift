import Foundation
import LibAV
import MediaTypes
import Packager
import PipelineSpec
import RoomOutputs
import Testing

@Suite("Sprite sheets")
struct SpriteMakerTests {
    @Test(
        "a written sprite sheet is available with its current size in bytes, even if its index cannot be written"
    )
    func size() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sheets-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        // A directory at the index's path refuses writes, also for root.
        let index = folder.path + "/still.vtt"
        try FileManager.default.createDirectory(atPath: index + "/x", withIntermediateDirectories: true)
        var output = ImageOutput(path: folder.path + "/still.jpg")
        output.sprites = ImageOutput.Sprites()
        var maker = try #require(SpriteMaker(output, incarnation: 1))
        var shown: SpriteFiles?
        let sheet = "still-1-0.jpg"
        func expectSize() throws {
            let size = try Data(contentsOf: folder.appendingPathComponent(sheet)).count
            guard case .file(let path, let told)? = shown?.object(named: sheet)?.body else {
                Issue.record("\(sheet) is not shown")
                return
            }
            #expect(told == size && path.hasSuffix("/\(sheet)"))
        }
        let black = try PictureCanvas.open(width: 320, height: 180, fill: .black).finish()
        let white = try PictureCanvas.open(width: 320, height: 180, fill: .white).finish()
        #expect(throws: MediaError.self) { try maker.take(black, at: 0) { shown = $0 } }
        try expectSize()
        #expect(throws: MediaError.self) { try maker.take(white, at: 10_000) { shown = $0 } }
        try expectSize()
        try FileManager.default.removeItem(atPath: index)
        let update = try maker.take(black, at: 20_000) { shown = $0 }
        #expect(update != nil)
        try expectSize()
        #expect(shown?.object(named: "still-1-1.jpg") == nil)
    }
}
