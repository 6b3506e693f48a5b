import MediaTypes
import PipelineSpec

/// The pipeline file, the document of a scene, and the request for the program. Input: JSON text.
enum PipelineCase {
    static let entry = FuzzCase("pipeline", longest: 6000, seeds: Self.seeds, run: Self.run)

    static func seeds() -> [(name: String, bytes: [UInt8])] {
        let folders = [FuzzFiles.tests + "/../pipelines", FuzzFiles.tests + "/../pipelines/examples"]
        var seeds: [(name: String, bytes: [UInt8])] = []
        for folder in folders {
            for name in FuzzFiles.names(folder) where name.hasSuffix(".json") && name != "schema.json" {
                seeds.append((name, FuzzFiles.bytes("\(folder)/\(name)")))
            }
        }
        let scenes = [
            #"{"layout":"sideBySide","uids":["1","2"]}"#, #"{"sceneId":"s","layout":"auto"}"#,
            #"{"panes":[{"uid":"1","x":0,"y":"10%","width":"50%","height":360,"zOrder":2,"fit":"cover"}]}"#,
            #"{"scene":"pk","at":"2026-01-31T20:00:00.000Z","transition":{"type":"fade","ms":300}}"#,
            #"[1,-0,1e9,0.5E-3,"\u00e9\ud83d\ude00\n",true,false,null,{"":[]}]"#,
        ]
        return seeds + scenes.enumerated().map { ("text.\($0.offset)", Array($0.element.utf8)) }
    }

    static let baseText = """
        {"room":{"roomId":"r"},"sources":[{"uid":"1","type":"rtmp","streamKey":"a"},{"uid":"2","type":"rtmp","streamKey":"b"}],
        "canvas":{"width":1280,"height":720},"scenes":[{"sceneId":"solo","layout":"solo","uids":["1"]}],
        "renditions":[{"name":"720p","width":1280,"height":720,"video":{"bitrate":2000000}}],
        "outputs":[{"type":"hls","path":"out"}]}
        """

    static let base: Pipeline? = Pipeline.parse(Self.baseText).pipeline

    static func run(_ bytes: [UInt8]) -> String? {
        if let broken = Self.text(bytes) { return broken }
        let report = Pipeline.parse(bytes)
        switch report.result {
        case .success(let pipeline):
            if let broken = Self.geometry(pipeline.scenes, pipeline) { return broken }
            if pipeline.summary().isEmpty { return "a pipeline with an empty summary" }
        case .failure(let refusal):
            if refusal.mistakes.isEmpty { return "refused without a mistake" }
            for mistake in refusal.mistakes where mistake.what.isEmpty || mistake.fix.isEmpty {
                return "a mistake without text or fix at \(mistake.path)"
            }
        }
        guard let base = Self.base else { return "the pipeline of this case is refused" }
        let scene = Scene.parse(bytes, sceneID: "s", in: base)
        if (scene.scene == nil) != !scene.mistakes.isEmpty { return "neither a scene nor a mistake, or both" }
        if let scene = scene.scene {
            if let broken = Self.geometry([scene], base) { return broken }
            var sceneStore = SceneStore(base.scenes)
            sceneStore.put(scene)
            if sceneStore[scene.sceneID] != scene { return "a stored scene is not found" }
        }
        if case .failure(let refusal) = ProgramRequest.parse(bytes), refusal.mistakes.isEmpty {
            return "a request refused without a mistake"
        }
        return nil
    }

    /// A document that is read, written and read again is the same.
    private static func text(_ bytes: [UInt8]) -> String? {
        let document = JSONParser.parse(bytes)
        guard let root = document.root else {
            return document.mistakes.isEmpty ? "no tree and no mistake" : nil
        }
        let text = root.text()
        let again = JSONParser.parse(Array(text.utf8))
        if !again.mistakes.isEmpty { return "the written text is not JSON" }
        if again.root?.text() != text { return "the JSON differs when it is written and read again" }
        return nil
    }

    /// Panes have pixels and positions that can be composed.
    private static func geometry(_ scenes: [Scene], _ pipeline: Pipeline) -> String? {
        for scene in scenes {
            let (width, height) = scene.size(on: pipeline.canvas)
            for live in [nil, [], pipeline.sources.map(\.id.uid)] as [[String]?] {
                for placed in scene.resolvedPanes(canvas: pipeline.canvas, live: live) {
                    let rect = placed.rect
                    if rect.width <= 0 || rect.height <= 0 { return "a pane without pixels in \(scene.sceneID)" }
                    if rect.x < 0 || rect.y < 0 || rect.x + rect.width > width || rect.y + rect.height > height {
                        return "a pane outside of its canvas in \(scene.sceneID)"
                    }
                }
            }
        }
        return nil
    }
}
