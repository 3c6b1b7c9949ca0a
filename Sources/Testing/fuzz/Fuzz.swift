import FuzzTargets
import GatewayFuzzTargets
import Glibc

/// The target of this run.
private nonisolated(unsafe) var chosen: FuzzTarget?
// Proof for nonisolated(unsafe): it is set once before the fuzzer begins, and the fuzzer has one thread.

private typealias Callback = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>, _ callback: Callback
) -> CInt

/// The environment variable that names the target to the processes that libFuzzer starts.
private let variable = "GATEHOUSE_FUZZ_TARGET"

private let targets = FuzzTarget.all + FuzzTarget.texts

/// The program's entry, in place of the fuzzer's own `main`.
///
///     fuzz --list
///     fuzz TARGET --seeds FOLDER [COUNT]     writes the dictionary and the seeds, or this many of them
///     fuzz TARGET [options and files of libFuzzer]
@_cdecl("fuzz_main")
public func main(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
    let words = (0..<Int(count)).compactMap { arguments[$0].map { String(cString: $0) } }
    if words.dropFirst() == ["--list"] {
        for target in targets { print("\(target.name)\t\(target.about)") }
        return 0
    }
    // For some of its work libFuzzer starts this program again, with only its own arguments.
    let inherited = getenv(variable).map { String(cString: $0) }
    let name = words.count > 1 && !words[1].hasPrefix("-") ? words[1] : inherited
    guard words.count > 1, let target = targets.first(where: { $0.name == name }) else {
        complain("usage: fuzz --list | fuzz TARGET [--seeds FOLDER [COUNT] | options and files of libFuzzer]")
        return 2
    }
    if words.count > 3, words[2] == "--seeds" {
        return writeSeeds(of: target, to: words[3], count: words.count > 4 ? Int(words[4]) : nil)
    }
    chosen = target
    if words[1] == target.name {
        setenv(variable, target.name, 1)
        // In place of the target's name. What the user says comes later and overrides it.
        arguments[1] = strdup("-max_len=\(target.maximumLength)")
    }
    var rest = count
    var pointer = arguments
    return runFuzzer(&rest, &pointer, runOne)
}

/// Runs one input. The name is the one that the fuzzer's own `main` calls: a linker may link that one too.
@_cdecl("LLVMFuzzerTestOneInput")
public func runOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let chosen else { return 0 }
    do throws(FuzzFailure) {
        try chosen.run(UnsafeRawBufferPointer(start: bytes, count: count))
    } catch {
        // The fuzzer keeps an input that ends the process.
        fatalError("\(chosen.name): \(error)")
    }
    return 0
}

private func complain(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

private func writeSeeds(of target: FuzzTarget, to folder: String, count: Int?) -> CInt {
    func save(_ bytes: [UInt8], _ name: String) -> Bool {
        guard let file = fopen("\(folder)/\(name)", "w") else { return false }
        defer { fclose(file) }
        return fwrite(bytes, 1, bytes.count, file) == bytes.count
    }
    let seeds = target.seeds()
    // If there are many, those at even distances.
    let step = max(1, seeds.count / max(1, count ?? seeds.count))
    for (index, seed) in seeds.enumerated() where index % step == 0 {
        guard save(Array(seed.prefix(target.maximumLength)), "seed-\(index)") else {
            complain("fuzz: seeds cannot be written to \(folder)")
            return 1
        }
    }
    // Next to the folder, because libFuzzer reads every file inside.
    let words = target.dictionary.enumerated().map { entry in
        let text = entry.element.utf8.map { byte -> String in
            let digits = String(byte, radix: 16)
            return "\\x" + (digits.count < 2 ? "0" : "") + digits
        }
        return "\(entry.offset)=\"\(text.joined())\"\n"
    }
    return save(Array(words.map { "w\($0)" }.joined().utf8), "../\(target.name).dict") ? 0 : 1
}
