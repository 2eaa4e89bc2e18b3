// Stores documents; the newer version can also index their words.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

struct Document {
	int number;
	std::string text;
};

template <typename Store> static void put(Store &store, const Document &document) {
	store[document.number % 512] = document.text;
}

template <typename Index> static void index_words(Index &index, const Document &document) {
	std::string word;
	for (char c : document.text) {
		if (c == ' ') {
			index[word]++;
			word.clear();
		} else {
			word.push_back(c);
		}
	}
}

static Document compose(int number) {
	static const char *words[] = {"invoice", "order", "parcel", "customer", "refund", "stock", "price", "label"};
	Document document{number, ""};
	for (int i = 0; i < 60; i++) {
		document.text += words[(number + i * i) % 8];
		document.text += ' ';
	}
	return document;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		std::fprintf(stderr, "usage: store DOCUMENTS plain|index\n");
		return 2;
	}
	std::vector<std::string> store(512);
	std::map<std::string, int> index;
	bool indexing = std::strcmp(argv[2], "index") == 0;
	for (int number = 0; number < std::atoi(argv[1]); number++) {
		Document document = compose(number);
		put(store, document);
		if (indexing && number % 5 == 0)
			index_words(index, document);
	}
	std::printf("%zu %zu\n", store.size(), index.size());
}
