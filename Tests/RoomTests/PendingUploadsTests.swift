import Foundation
import PipelineSpec
import RoomOutputs
import Testing

@Suite("Files of an ended room that are still to be uploaded")
struct PendingUploadsTests {
    @Test(
        "PendingUploads lists the index of an image output's sprite sheets, and the sheets in it that exist"
    )
    func sheets() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pending-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func cue(_ second: Int, _ payload: String) -> String {
            "\n00:00:0\(second).000 --> 00:00:0\(second + 1).000\n\(payload)\n"
        }
        let text =
            "WEBVTT\n" + cue(0, "still-1-0.jpg#xywh=0,0,32,18") + cue(1, "still-1-0.jpg#xywh=32,0,32,18")
            + cue(2, "still-1-1.jpg#xywh=0,0,32,18") + cue(3, "still-2-2.jpg#xywh=0,0,32,18")
            + cue(4, "../secret.jpg#xywh=0,0,32,18")
        try Data(text.utf8).write(to: folder.appendingPathComponent("still.vtt"))
        for name in ["still-1-0.jpg", "still-2-2.jpg", "still-9-9.jpg", "still.jpg"] {
            try Data([1]).write(to: folder.appendingPathComponent(name))
        }
        var sprites = ImageOutput.Sprites()
        sprites.intervalSeconds = 1
        let plain = ImageOutput(path: folder.path + "/still.jpg")
        var (image, absent) = (plain, ImageOutput(path: folder.path + "/other.jpg"))
        (image.sprites, absent.sprites) = (sprites, sprites)
        let updates = PendingUploads.sheets(of: [plain, image, absent])
        #expect(updates.count == 1 && updates.first?.index == "still.vtt")
        #expect(updates.first?.changed == ["still-1-0.jpg", "still-2-2.jpg"], "a missing file is not named")
        #expect(updates.first?.text == Array(text.utf8) && updates.first?.directory == folder.path + "/")
    }
}
