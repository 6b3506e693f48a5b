import HLS
import MediaTypes
import Packager
import PipelineSpec
import Program
import RoomAPI
import RoomScenes

/// Announces scenes and PK phases to viewers as HLS date ranges (`EXT-X-DATERANGE`) that start at the frame of the
/// change.
struct ProgramMarks: SceneMarks {
    /// The packager that writes the date ranges; nil if the room has no HLS output.
    let packager: HLSPackager?
    let metadata: MetadataService
    let program: ProgramStage
    let times: ProgramTimes

    /// `CLASS` of the date ranges of scenes. Attributes: `X-TANDEM-SCENE`, and `X-TANDEM-UIDS` (the users shown,
    /// separated by commas). Those of PK phases have `phaseClass` and also `X-TANDEM-PHASE`.
    private static let sceneClass = "live.tandem.scene"
    private static let phaseClass = "live.tandem.pk"

    func mark(_ scene: Program.Scene, without left: Set<SourceID>, at tick: Int64, isScheduled: Bool) {
        self.metadata.showLayout(of: scene, without: left, at: tick, isScheduled: isScheduled)
        let sources = scene.panes.map(\.source).filter { !left.contains($0) }
        self.packager?.mark(
            ProgramMark(
                rangeClass: Self.sceneClass, tick: tick, isScheduled: isScheduled,
                attributes: Self.attributes(scene.sceneID, sources)))
    }

    func mark(_ phases: [PKStateMachine.Change], of scene: PipelineSpec.Scene?, shownAt: Int64?) {
        guard let scene else { return }
        let next = self.program.tick &+ 1
        for change in phases {
            var attributes: [DateRange.Attribute]?
            if change.to != .idle {
                attributes =
                    [DateRange.Attribute("TANDEM-PHASE", change.to.rawValue)]
                    + Self.attributes(scene.sceneID, scene.sources)
            }
            self.packager?.mark(
                ProgramMark(
                    rangeClass: Self.phaseClass,
                    tick: shownAt ?? max(next, self.times.tick(ofLife: change.at) ?? 0),
                    attributes: attributes, plannedDuration: change.endsAt.map { $0 &- change.at }))
        }
    }

    private static func attributes(_ sceneID: String, _ sources: [SourceID]) -> [DateRange.Attribute] {
        var uids: [String] = []
        for source in sources where !uids.contains(source.uid) { uids.append(source.uid) }
        return [
            DateRange.Attribute("TANDEM-SCENE", sceneID),
            DateRange.Attribute("TANDEM-UIDS", uids.joined(separator: ",")),
        ]
    }
}
