import CWebFiles

/// The web page. Its files are in `Sources/App/WebFiles/page` and are part of the program, so nothing has to be
/// installed next to it.
///
/// Each file is served twice: under its name, and in a folder that has the digest of all files as its name. Documents name the
/// files of that folder, so browsers keep them for ever, and a new version of the gateway has another folder. Modules name
/// one another by relative addresses, and stay in their folder.
struct WebPage: Sendable {
    /// The file of the page that shows one camera.
    static let cameraPage = "/assets/camera.html"
    /// The consent page of OAuth.
    static let linkPage = "/assets/link.html"
    /// The script that browsers run while the page is closed.
    static let serviceWorker = "/service-worker.js"
    static let folder = "/assets/"

    /// The files by their paths.
    let assets: [String: WebAsset]
    /// The files that never change, by their paths.
    let lasting: [String: WebAsset]

    init() {
        var count = 0
        let files = UnsafeBufferPointer(start: web_page_files(&count), count: count)
        self.init(
            files: files.map { file in
                (String(cString: file.path), String(cString: file.media_type), file.content)
            })
    }

    init(files: [(path: String, mediaType: String, bytes: [UInt8])]) {
        let version = WebAsset.digest(
            of: files.sorted { $0.path < $1.path }.flatMap { Array($0.path.utf8) + [0] + $0.bytes + [0] })
        let lastingFolder = "\(Self.folder)\(version)/"
        let modules = Dictionary(
            files.filter { $0.path.hasSuffix(".js") }.map { ($0.path, ModuleGraph.imports(of: $0.bytes)) },
            uniquingKeysWith: { first, _ in first })
        var assets: [String: WebAsset] = [:]
        var lasting: [String: WebAsset] = [:]
        for file in files {
            guard file.mediaType.hasPrefix("text/html") else {
                let asset = WebAsset(file.mediaType, file.bytes)
                assets[file.path] = asset
                if file.path.hasPrefix(Self.folder) {
                    lasting[lastingFolder + file.path.dropFirst(Self.folder.count)] = asset
                }
                continue
            }
            let text = ModuleGraph.document(
                String(decoding: file.bytes, as: UTF8.self), modules: modules, folder: Self.folder,
                lasting: lastingFolder)
            assets[file.path] = WebAsset(file.mediaType, Array(text.utf8))
        }
        self.assets = assets
        self.lasting = lasting
    }

    /// The paths that everybody may read.
    var paths: Set<String> { Set(assets.keys).union(lasting.keys) }
}

/// Which modules a document needs, so that browsers ask for all of them at once and do not find them one after the other.
enum ModuleGraph {
    /// The names of the modules that a module imports statically, as it writes them: `./dom.js`.
    static func imports(of bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).matches(of: /(?m)^(?:import|export)\s[^;]*?from\s+"\.\/([^"]+)"/)
            .map { String($0.1) }
    }

    /// A document with the addresses of files that never change, and with links to all modules of its script.
    static func document(
        _ text: String, modules: [String: [String]], folder: String, lasting: String
    ) -> String {
        var needed: [String] = []
        var waiting = text.matches(of: /<script type="module" src="([^"]+)">/).map { String($0.1) }
        var known = Set(waiting)
        while !waiting.isEmpty {
            let next = waiting.removeFirst()
            for name in modules[next] ?? [] where known.insert(folder + name).inserted {
                needed.append(folder + name)
                waiting.append(folder + name)
            }
        }
        let links = needed.map { "<link rel=\"modulepreload\" href=\"\($0)\">\n" }.joined()
        return text.replacing("</head>", with: links + "</head>", maxReplacements: 1)
            .replacing("\"\(folder)", with: "\"\(lasting)")
            // The manifest names the page as it is installed, which outlives a version.
            .replacing("rel=\"manifest\" href=\"\(lasting)", with: "rel=\"manifest\" href=\"\(folder)")
    }
}
