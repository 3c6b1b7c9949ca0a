import Transport

/// A queue in which hosts take turns: one element of each host, in the order in which its elements came.
///
/// Every second turn goes to the host with the fewest waiting elements, so a client that does one thing at a time is served
/// among any number of flooding hosts. The other turns keep every host going.
struct HostQueue<Element> {
    private var elements: [TransportAddress: [Element]] = [:]
    /// The hosts with waiting elements, the next one first.
    private var hosts: [TransportAddress] = []
    private var prefersFew = false

    var isEmpty: Bool { self.hosts.isEmpty }

    mutating func append(_ element: Element, of host: TransportAddress) {
        if self.elements[host] == nil { self.hosts.append(host) }
        self.elements[host, default: []].append(element)
    }

    mutating func popFirst() -> Element? {
        self.prefersFew.toggle()
        let index = self.prefersFew ? self.indexOfFewest : self.hosts.indices.first
        guard let index else { return nil }
        let host = self.hosts.remove(at: index)
        let first = self.elements[host]?.removeFirst()
        if self.elements[host]?.isEmpty == true { self.elements[host] = nil } else { self.hosts.append(host) }
        return first
    }

    private var indexOfFewest: Int? {
        self.hosts.indices.min {
            (self.elements[self.hosts[$0]]?.count ?? 0) < (self.elements[self.hosts[$1]]?.count ?? 0)
        }
    }
}
